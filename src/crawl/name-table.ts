/** A few known names of tags or attributes, found as units [start, end) of a page in any case: no string is made for one. */

export type NameTable = {
  readonly names: readonly string[]
  /** Place of the name in `names`; -1 where it is none of them. */
  find(text: string, start: number, end: number): number
}

/** `names` are distinct, in lower case, '' for a place that nothing is found at. */
export function createNameTable(names: readonly string[]): NameTable {
  const unitsMax = Math.max(0, ...names.map(({ length }) => length))
  let slots = 64
  while (slots < 4 * names.length) slots *= 2
  /** Place + 1 by hash; 0 = free. */
  const places = new Uint16Array(slots)
  for (const [at, name] of names.entries()) {
    if (name === '') continue
    let slot = hashOf(name, 0, name.length) & (slots - 1)
    while (places[slot] !== 0) slot = (slot + 1) & (slots - 1)
    places[slot] = at + 1
  }
  return {
    names,
    find(text, start, end) {
      if (end - start > unitsMax) return -1
      const hash = hashOf(text, start, end)
      // Some letters beyond ASCII are small ones of ASCII in lower case: the Kelvin sign.
      if (hash < 0) return names.indexOf(text.slice(start, end).toLowerCase() || '\0')
      for (let slot = hash & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
        const at = (places[slot] as number) - 1
        if (at < 0 || isNamed(names[at] as string, text, start, end)) return at
      }
    },
  }
}

const small = (unit: number): number => (unit >= 0x41 && unit <= 0x5a ? unit | 0x20 : unit)

/** 24 bits; -1 where a unit is not ASCII. */
function hashOf(text: string, start: number, end: number): number {
  let hash = end - start
  for (let i = start; i < end; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7f) return -1
    hash = (Math.imul(hash, 31) + small(unit)) & 0xff_ffff
  }
  return hash
}

function isNamed(name: string, text: string, start: number, end: number): boolean {
  if (name.length !== end - start) return false
  for (let i = 0; i < name.length; i++)
    if (name.charCodeAt(i) !== small(text.charCodeAt(start + i))) return false
  return true
}
