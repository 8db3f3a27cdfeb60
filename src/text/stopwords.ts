/** Words that say nothing about a page: left out of queries and lengths, kept in the index. The only place that lists them. */

/** Snowball's English list with its question words, folded; contractions as they look without the apostrophe. */
const ENGLISH = `
  a an the and but if or because as until while of at by for with about against between into through during before
  after above below to from up down in out on off over under again further then once here there when where why how
  all any both each few more most other some such no nor not only own same so than too very can will just don now
  i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
  it its itself they them their theirs themselves what which who whom whose this that these those am is are was were
  be been being have has had having do does did doing would should could ought may might also
  dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt wont wouldnt cant couldnt shouldnt mustnt cannot`

/** Chinese function and question words, simplified. */
const CHINESE = `
  的 了 是 在 和 与 及 或 也 就 都 而 着 对 于 之 以 为 被 把 将 从 到 由 等 其 这 那 有 中 上 吗 呢 吧 啊 呀
  我 你 他 她 它 们 我们 你们 他们 什么 哪些 哪个 哪 谁 多少 几 怎么 怎样 怎么样 如何 为什么 为何 何时 何地
  哪里 哪儿 哪一 哪一个 哪种 哪位 哪年 哪几 是否 何 怎 么 请问 多 什 是什么 为什 些 个 一个`

/** All of them. */
export const stopWords: ReadonlySet<string> = new Set(`${ENGLISH} ${CHINESE}`.trim().split(/\s+/))

/** `word` is folded and not stemmed. */
export const isStopWord = (word: string): boolean => stopWords.has(word)
