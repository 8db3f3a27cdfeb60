/** What a single line of text is when it is not content: interface words, promotions, bylines, legal notes. Both scripts. */
import type { Line } from './blocks.ts'

const interfaceWords =
  /^(advertisements?|advert|ad|subscribe|share|share this( article)?|sign up|log ?in|comments?|\d+ comments?|no comments|related( news| articles?| stories| posts?| content)?|read more|more|loading|print|e-?mail|tweet|pin it|follow us|highlights|image|photo|video|continue reading( the main story)?|skip advertisement|正在加载|分享|广告|收藏|打印|举报|评论|点赞|上一篇|下一篇|返回顶部|返回|首页|您所在的位置.*|当前位置.*|展开全文|\[?编辑\]?)[\s.:：…]*$/i
const promotion =
  /^(read more|read next|see also|see more|also read|related|related (article|post|story|stories|news)|more|more (from|on)|watch|don'?t miss|must read|click here|sign up|subscribe|follow|you (may|might) also like|recommended|相关阅读|延伸阅读|推荐阅读|更多|点击|查看|往期)(\b|[:：]|(?<=[\u3400-\u9fff]))/i
const tail =
  /^(you (may|might) also|related|more (from|on|in|great|stories|news|posts|articles|like)|recommended|read (more|next|also)|trending|most (read|popular|viewed)|don'?t miss|about the author|(\d+ )?comments?$|leave a (reply|comment)|post a comment|share (this|on)|sponsored|from our partners|popular (now|posts|stories)|latest (news|posts|stories)|up next|相关(新闻|阅读|文章|推荐|链接|资讯)|推荐阅读|延伸阅读|热门|为[你您]推荐|猜你喜欢|精彩推荐|最新评论|网友评论|发表评论|大家都在)/i
const byline =
  /^(by|written by|posted (by|on|in|at)|published|updated|last updated|author|reporting by|editing by|filed under|tags|tagged|category|categories|source|via|photo|credit|本文来源|来源|作者|编辑|责任编辑|责编|发布时间|原标题|记者|文章来源)(\b|[:：]|(?<=[\u3400-\u9fff])\s*[:：])/i
const legal =
  /copyright|all rights reserved|©|\(c\) (19|20)\d\d|版权所有|^声明[:：]|未经授权|免责声明|郑重声明|转载请/i
const month = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?'
const date = new RegExp(
  [
    `\\b${month}\\s+\\d{1,2}(?:st|nd|rd|th)?,?\\s+(?:19|20)\\d\\d\\b`,
    `\\b\\d{1,2}(?:st|nd|rd|th)?\\.?\\s+${month},?\\s+(?:19|20)\\d\\d\\b`,
    '\\b(?:19|20)\\d\\d[-/.年]\\s?\\d{1,2}[-/.月]\\s?\\d{1,2}',
    '\\b\\d{1,2}[-/.]\\d{1,2}[-/.](?:19|20)\\d\\d\\b',
    '\\b\\d+ (?:minutes?|hours?|days?|weeks?|months?) ago\\b',
    '\\d+\\s?(?:分钟|小时|天)前',
  ].join('|'),
  'i',
)

export const isInterfaceLine = ({ width, text }: Line): boolean =>
  (width < 60 && interfaceWords.test(text)) || (width < 80 && postHead.test(text))

/** What forums put above each post: who, when, and what can be done with it. */
const postHead =
  /^(?:(?:发表|回复|发布|编辑)于[\s:：]*\d{2,4}[-/.年]|post(?:ed)? by \S.{0,40} » |主题 ?\d+ ?帖子 ?\d+)/i

/** "Read more", "相关阅读": with a link in it. A sentence that only begins so ("更多信息请参见 ...。") is text. */
export const isPromotionLine = ({ width, linkedWidth, text }: Line): boolean =>
  linkedWidth > width * 0.3 &&
  width < 250 &&
  promotion.test(text) &&
  !(/^[\u3400-\u9fff]/.test(text) && width >= 40 && linkedWidth < width * 0.6)

/** The heading of a list of other pages. */
export const isTailLine = ({ width, text }: Line): boolean => width < 60 && tail.test(text)

/** Who wrote it and when, alone on a line. */
export const isBylineLine = ({ width, text }: Line): boolean =>
  width < 120 &&
  (byline.test(text) ||
    (date.test(text) && text.replace(date, '').length < 45 && !/[.!?。！？]$/.test(text)))

export const isLegalLine = ({ width, text }: Line): boolean => width < 400 && legal.test(text)
