/** Conditions on extracted fields: equal values and ranges of numbers or dates. Pure. */
import { foldText } from '../text/normalize.ts'
import { periodOf } from './dates.ts'

export type FieldTest =
  /** Folded; a value that goes on with a slash lies within: 程序设计 finds 程序设计/循环. */
  | { op: 'is' | 'isNot'; value: string }
  /** Both borders belong to it but an `isOpen` one; null = none. Dates are milliseconds. */
  | {
      op: 'between'
      unit: 'number' | 'time'
      from: number | null
      to: number | null
      isFromOpen: boolean
      isToOpen: boolean
    }

const nameCharsMax = 64
const written = /^([^=<>!:]+)(>=|<=|!=|=|>|<|:)(.*)$/su

/** From `price=10..20`, `price>=10`, `author=Ann Lee`; null for what is none. */
export function fieldTestOf(text: string): { name: string; test: FieldTest } | null {
  const plain = text.normalize('NFKC').replaceAll('≥', '>=').replaceAll('≤', '<=')
  const match = written.exec(plain)
  const [, name = '', comparison = '', value = ''] = match ?? []
  if (match === null || name.length > nameCharsMax || value.trim() === '') return null
  if (comparison === '!=') return { name, test: { op: 'isNot', value: foldText(value.trim()) } }
  if (comparison === '=' || comparison === ':') {
    const range = /^(.*?)\.\.(.*)$/su.exec(value)
    const test = range ? between(range[1] ?? '', range[2] ?? '') : null
    return { name, test: test ?? { op: 'is', value: foldText(value.trim()) } }
  }
  const isLower = comparison.startsWith('>')
  const test = isLower ? between(value, '') : between('', value)
  if (test === null || test.op !== 'between') return null
  const isOpen = comparison.length === 1
  return { name, test: { ...test, ...(isLower ? { isFromOpen: isOpen } : { isToOpen: isOpen }) } }
}

function between(from: string, to: string): FieldTest | null {
  if (from.trim() === '' && to.trim() === '') return null
  const shape = { op: 'between', isFromOpen: false, isToOpen: false } as const
  const numbers = [from, to].map((text) => (text.trim() === '' ? null : numberOf(text)))
  if (!numbers.some((number) => Number.isNaN(number)))
    return { ...shape, unit: 'number', from: numbers[0] ?? null, to: numbers[1] ?? null }
  const periods = [from, to].map((text) => (text.trim() === '' ? null : periodOf(text)))
  if (periods.some((period, i) => period === null && [from, to][i]?.trim() !== '')) return null
  return {
    ...shape,
    unit: 'time',
    from: periods[0]?.fromMs ?? null,
    to: periods[1] ? periods[1].toMs - 1 : null,
  }
}

/** A number, also as pages write it (¥1,299.00, 12.5 元); NaN for anything else. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return Number.NaN
  const bare = value
    .normalize('NFKC')
    .replace(/^[^\d+.-]{0,4}|[^\d]{0,8}$/gu, '')
    .replaceAll(/[,\s]/g, '')
  return /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(bare) ? Number(bare) : Number.NaN
}

function timeOf(value: unknown): number {
  if (typeof value !== 'string') return Number.NaN
  return periodOf(value)?.fromMs ?? Date.parse(value)
}

/** @param value of the field as it was extracted; of a list any will do */
export function passesField(value: unknown, test: FieldTest): boolean {
  if (Array.isArray(value) && !(test.op === 'isNot'))
    return value.some((one) => passesField(one, test))
  switch (test.op) {
    case 'isNot':
      return !passesField(value, { op: 'is', value: test.value })
    case 'is':
      return isValue(value, test.value)
    case 'between':
      return isBetween(value, test)
  }
}

function isValue(value: unknown, wanted: string): boolean {
  if (typeof value === 'number') return String(value) === wanted || Number(wanted) === value
  if (typeof value !== 'string' && typeof value !== 'boolean') return false
  const folded = foldText(String(value)).trim()
  return folded === wanted || folded.startsWith(`${wanted}/`)
}

function isBetween(value: unknown, test: Extract<FieldTest, { op: 'between' }>): boolean {
  const number = test.unit === 'number' ? numberOf(value) : timeOf(value)
  if (Number.isNaN(number)) return false
  const { from, to, isFromOpen, isToOpen } = test
  return (
    (from === null || (isFromOpen ? number > from : number >= from)) &&
    (to === null || (isToOpen ? number < to : number <= to))
  )
}
