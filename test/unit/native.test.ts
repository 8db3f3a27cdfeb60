/** Where the packaged program looks for room for its native code, what it reads out of the loader's words, and that both assets are alike. */
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { describe, it } from 'node:test'
import type * as packagedAssets from '../../src/assets-sea.ts'
import type * as assets from '../../src/assets.ts'
import { missingGlibc, placesFor } from '../../src/native.ts'

/** Whatever the program takes from assets.ts. The build takes the dictionary from there as well; the program never does. */
type Needed = Omit<typeof assets, 'makeDictionary' | 'isPackaged'>
/** Does not compile when the packaged assets lack something or say it in other types. */
const alike = (packaged: typeof packagedAssets): Needed => packaged

describe('places for native code', () => {
  const rest = [tmpdir(), '/dev/shm', '.']
  const cases: [string, string[], Record<string, string>, string][] = [
    ['the default', [], {}, './findling-data'],
    ['the environment', ['search', 'x'], { FINDLING_DATA: '/srv/f' }, '/srv/f'],
    ['the flag before it', ['serve', '--data', '/d'], { FINDLING_DATA: '/srv/f' }, '/d'],
    ['the flag in one word', ['--data=/d', 'serve'], {}, '/d'],
    ['the last flag', ['--data=/c', '--data', '/d'], {}, '/d'],
    ['nothing behind --', ['search', '--', '--data', '/d'], {}, './findling-data'],
    ['no empty value', ['--data='], { FINDLING_DATA: '' }, './findling-data'],
    ['no value that is missing', ['--data'], {}, './findling-data'],
    ['no flag with a longer name', ['--database=/d'], {}, './findling-data'],
  ]
  for (const [name, args, environment, expected] of cases) {
    it(`begin with the data directory: ${name}`, () => {
      assert.deepEqual(placesFor(args, environment), [expected, ...rest])
    })
  }

  it('are each named once', () => {
    assert.deepEqual(placesFor(['--data', '/dev/shm'], {}), ['/dev/shm', tmpdir(), '.'])
  })
})

describe('the loader of a system that is too old', () => {
  const folder = '/lib/x86_64-linux-gnu'
  const cases: [string, string | null][] = [
    [
      `${folder}/libc.so.6: version \`GLIBC_2.34' not found (required by /proc/self/fd/17)`,
      'GLIBC_2.34',
    ],
    [`${folder}/libstdc++.so.6: version \`GLIBCXX_3.4.29' not found`, 'GLIBCXX_3.4.29'],
    ['/proc/self/fd/17: failed to map segment from shared object', null],
    ['EACCES: permission denied', null],
  ]
  for (const [message, expected] of cases) {
    it(`is understood: ${message.slice(0, 60)}`, () => {
      assert.equal(missingGlibc(message), expected)
    })
  }
})

describe('the packaged assets', () => {
  it('export the same names', async () => {
    const names = (module: object): string[] =>
      Object.keys(module).filter((name) => name !== 'makeDictionary')
    const [packaged, plain] = [
      await import('../../src/assets-sea.ts'),
      await import('../../src/assets.ts'),
    ]
    assert.deepEqual(names(packaged).toSorted(), names(plain).toSorted())
    assert.equal(alike(packaged), packaged)
  })
})
