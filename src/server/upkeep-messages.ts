/** What the pages on sources, their runs and what was learned of hosts say, in all languages. */
import type { RunState } from './control.ts'

export type UpkeepMessages = {
  sources: string
  noSources: string
  source: string
  schedule: string
  nextRun: string
  lastRun: string
  never: string
  runs: string
  noRuns: string
  cause: Readonly<Record<'schedule' | 'request', string>>
  states: Readonly<Record<RunState, string>>
  started: string
  ended: string
  copies: string
  note: string
  crawlNow: string
  hosts: string
  hostsText: string
  noHosts: string
  shape: string
  parameter: string
  /** Visits to a shape, and how many of them brought something. */
  visits: (fetched: string, fresh: string) => string
  /** Pairs of pages that differ in a parameter only. */
  pairs: (same: string, differing: string) => string
  ruleStates: Readonly<
    Record<'shape' | 'parameter', Readonly<Record<'open' | 'closed' | 'kept', string>>>
  >
  allow: string
  watch: string
  rests: (until: string, failures: string) => string
  noarchive: string
}

export const english: UpkeepMessages = {
  sources: 'Sources',
  noSources: 'No source is described yet.',
  source: 'Source',
  schedule: 'Schedule',
  nextRun: 'Next run',
  lastRun: 'Last run',
  never: 'Never',
  runs: 'Runs',
  noRuns: 'It was not crawled yet.',
  cause: { schedule: 'By schedule', request: 'By request' },
  states: {
    running: 'Running',
    paused: 'Paused',
    done: 'Finished',
    limit: 'Limit reached',
    stopped: 'Stopped',
    skipped: 'Skipped',
    failed: 'Not started',
  },
  started: 'Started',
  ended: 'Ended',
  copies: 'Copies',
  note: 'Note',
  crawlNow: 'Crawl now',
  hosts: 'What was learned of sites',
  hostsText:
    'Addresses of a form that brought nothing new are put aside, and parameters that change nothing are dropped from addresses. Each of these can be undone.',
  noHosts: 'Nothing so far.',
  shape: 'Form of addresses',
  parameter: 'Parameter',
  visits: (fetched, fresh) => `${fetched} visits, ${fresh} brought something`,
  pairs: (same, differing) => `changed nothing ${same} times, something ${differing} times`,
  ruleStates: {
    shape: { open: 'Watched', closed: 'Put aside', kept: 'Allowed' },
    parameter: { open: 'Watched', closed: 'Dropped', kept: 'Kept' },
  },
  allow: 'Allow',
  watch: 'Watch again',
  rests: (until, failures) => `Rests until ${until} after ${failures} failures in a row`,
  noarchive: 'The page asks that no stored copy of it is shown.',
}

export const simplified: UpkeepMessages = {
  sources: '来源',
  noSources: '还没有描述任何来源。',
  source: '来源',
  schedule: '时间表',
  nextRun: '下次运行',
  lastRun: '上次运行',
  never: '从未',
  runs: '运行记录',
  noRuns: '还没有抓取过。',
  cause: { schedule: '按时间表', request: '手动' },
  states: {
    running: '进行中',
    paused: '已暂停',
    done: '已完成',
    limit: '已达上限',
    stopped: '已停止',
    skipped: '已跳过',
    failed: '未能启动',
  },
  started: '开始',
  ended: '结束',
  copies: '副本',
  note: '说明',
  crawlNow: '立即抓取',
  hosts: '对网站的认识',
  hostsText: '带不来新内容的一类网址会被搁置，不影响内容的参数会从网址中去掉。每一项都可以撤销。',
  noHosts: '暂时没有。',
  shape: '网址形式',
  parameter: '参数',
  visits: (fetched, fresh) => `访问 ${fetched} 次，其中 ${fresh} 次有新内容`,
  pairs: (same, differing) => `内容相同 ${same} 次，不同 ${differing} 次`,
  ruleStates: {
    shape: { open: '观察中', closed: '已搁置', kept: '已允许' },
    parameter: { open: '观察中', closed: '已去掉', kept: '已保留' },
  },
  allow: '允许',
  watch: '重新观察',
  rests: (until, failures) => `连续失败 ${failures} 次，暂停至 ${until}`,
  noarchive: '该页面要求不显示存档。',
}

export const traditional: UpkeepMessages = {
  sources: '來源',
  noSources: '還沒有描述任何來源。',
  source: '來源',
  schedule: '時間表',
  nextRun: '下次執行',
  lastRun: '上次執行',
  never: '從未',
  runs: '執行紀錄',
  noRuns: '還沒有抓取過。',
  cause: { schedule: '依時間表', request: '手動' },
  states: {
    running: '進行中',
    paused: '已暫停',
    done: '已完成',
    limit: '已達上限',
    stopped: '已停止',
    skipped: '已略過',
    failed: '未能啟動',
  },
  started: '開始',
  ended: '結束',
  copies: '副本',
  note: '說明',
  crawlNow: '立即抓取',
  hosts: '對網站的認識',
  hostsText: '帶不來新內容的一類網址會被擱置，不影響內容的參數會從網址中去掉。每一項都可以復原。',
  noHosts: '暫時沒有。',
  shape: '網址形式',
  parameter: '參數',
  visits: (fetched, fresh) => `造訪 ${fetched} 次，其中 ${fresh} 次有新內容`,
  pairs: (same, differing) => `內容相同 ${same} 次，不同 ${differing} 次`,
  ruleStates: {
    shape: { open: '觀察中', closed: '已擱置', kept: '已允許' },
    parameter: { open: '觀察中', closed: '已去掉', kept: '已保留' },
  },
  allow: '允許',
  watch: '重新觀察',
  rests: (until, failures) => `連續失敗 ${failures} 次，暫停至 ${until}`,
  noarchive: '此頁面要求不顯示存檔。',
}
