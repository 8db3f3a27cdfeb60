/** The attack URLs of the SSRF test, and the addresses that no crawl may reach. */

/** Canaries listen here, in a network of their own. */
export const forbiddenAddresses = [
  '127.0.0.1',
  '169.254.169.254',
  '10.9.9.1',
  '100.100.100.200',
  '::1',
  'fd00:ec2::254',
] as const
/** Stands for the public network. */
export const publicAddress = '93.184.216.34'

/** A public host whose robots.txt leads to the attack of this number. */
export const hopHost = (attack: number): string => `hop-${attack}.test`

const redirectTo = (host: string, target: string): string =>
  `http://${host}/r?${encodeURIComponent(target)}`

export const attacks: readonly string[] = [
  // Loopback in every spelling.
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://127.1/',
  'http://0/',
  'http://①②⑦.0.0.1/',
  'http://127。0。0。1/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  // Cloud metadata and private ranges.
  'http://[::ffff:a9fe:a9fe]/',
  'http://169.254.169.254/latest/meta-data/',
  'http://100.100.100.200/',
  'http://10.9.9.1/',
  'http://[fd00:ec2::254]/',
  // Names that lead there.
  'http://localhost/',
  'http://localhost./',
  'http://a.localhost/',
  'http://metadata.google.internal/',
  'http://priv.test/',
  'http://six.test/',
  'http://dual.test/',
  'http://u:p@127.0.0.1/',
  // Redirects.
  redirectTo(publicAddress, 'http://169.254.169.254/'),
  redirectTo('ok.test', 'http://127.1/'),
  redirectTo('ok.test', '//priv.test/'),
  redirectTo('ok.test', 'file:///etc/passwd'),
  // Public when first asked, loopback afterwards.
  'http://rebind.test/',
  'http://rebind.test/again',
]

export type Report = {
  attacks: number
  /** Answers of a canary that a client without a guard got, and requests that canaries saw. */
  plain: { leaks: number; hits: number }
  guarded: { leaks: number; robotsLeaks: number; pages: number; hits: number; kinds: string[] }
}
