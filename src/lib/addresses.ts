/** IP addresses: which ranges are public, which belong to this machine, and what an address holds wrapped. Pure but for the list of interfaces. */
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { AppError } from './errors.ts'

/** IANA special-purpose registries that are not globally reachable, multicast, and what tunnels to IPv4. */
const specialRanges = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
  ::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16
  fc00::/7 fe80::/10 fec0::/10 ff00::/8`

/** @throws AppError `config_invalid` for what is no address or range. */
export function rangeList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.trim().split('/')
    const family = isIP(address)
    const bitsMax = family === 4 ? 32 : 128
    const prefix = bits === undefined ? bitsMax : Number(bits)
    if (family === 0 || !/^\d*$/.test(bits ?? '') || bits === '' || prefix > bitsMax) {
      throw new AppError('config_invalid', `not an address or range like 10.0.0.0/8: ${range}`)
    }
    list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

/** Not publicly reachable. */
export const special = rangeList(specialRanges.trim().split(/\s+/))
const thisMachine = rangeList(['127.0.0.0/8', '0.0.0.0', '::1', '::'])

/** BlockList judges IPv4 inside ::ffff:0:0/96 by the IPv4 rules itself. */
export const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** IPv4 wrapped into IPv6, to be judged too: NAT64 (64:ff9b::/96, RFC 6052) and ISATAP (::[0200:]5efe:a.b.c.d, RFC 5214). */
function wrappedIpv4(address: string): string | null {
  if (isIP(address) !== 6) return null
  const groups = groupsOf(address)
  const [upper = 0, lower = 0] = groups.slice(6)
  const isNat64 =
    groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((g) => g === 0)
  const isIsatap = ((groups[4] ?? 0) & 0xfdff) === 0 && groups[5] === 0x5efe
  if (!isNat64 && !isIsatap) return null
  return `${upper >> 8}.${upper & 255}.${lower >> 8}.${lower & 255}`
}

/** Eight 16-bit numbers. The URL parser writes every spelling as hexadecimal groups with at most one "::". */
function groupsOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, '')}]/`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const before = parse(head)
  const after = parse(tail ?? '')
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

/** The address, and the IPv4 address inside it. */
export function withWrapped(address: string): string[] {
  const inner = wrappedIpv4(address)
  return inner === null ? [address] : [address, inner]
}

export function isThisMachine(address: string): boolean {
  if (isIn(thisMachine, address)) return true
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return isIn(rangeList(interfaces.map((one) => one.address.replace(/%.*$/, ''))), address)
}
