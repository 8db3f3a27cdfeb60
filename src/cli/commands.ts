/** The table of commands: name, operands, options, one sentence, and the function that runs it. */
import {
  configCommand,
  explainCommand,
  exportCommand,
  healthCommand,
  licensesCommand,
  searchCommand,
  versionCommand,
} from './ask.ts'
import { backupCommand, backupOptions, restoreCommand, restoreOptions } from './backup.ts'
import { formatOption as format, type Command } from './command.ts'
import { completionCommand } from './completion.ts'
import { crawlCommand, crawlOptions } from './crawl.ts'
import { checkCommand, importCommand, reindexCommand } from './maintain.ts'
import { rulesCommand, rulesOptions } from './rules.ts'
import { serviceCommand } from './service.ts'

export const commands: Readonly<Record<string, Command>> = {
  serve: {
    synopsis: '',
    about: 'Serves the search page and the API (the default).',
    operands: [0, 0],
    options: {
      crawl: { type: 'string', many: true, value: 'URL', about: 'Also crawls this site.' },
    },
    // Fastify is loaded by who serves, not by every command.
    run: async (call) => (await import('./serve.ts')).serveCommand(call),
  },
  crawl: {
    synopsis: '[URL...]',
    about:
      'Crawls these sites, or all of --sources FILE, to the end of their scope; goes on where it was interrupted.',
    operands: [0, 1_000],
    options: { ...crawlOptions, format },
    run: crawlCommand,
  },
  search: {
    synopsis: 'QUERY',
    about: 'Searches.',
    operands: [1, 100],
    options: {
      format,
      limit: { type: 'string', value: 'N', about: 'Hits, 1 to 50 (10).' },
      offset: { type: 'string', value: 'N', about: 'Hits to skip (0).' },
    },
    run: searchCommand,
  },
  import: {
    synopsis: 'FILE|-',
    about: 'Stores documents from JSON lines {url, title, text, lang?, published_at?, fields?}.',
    operands: [1, 1],
    options: {
      format,
      'no-dedupe': { type: 'boolean', about: 'Keeps copies as documents of their own.' },
    },
    run: importCommand,
  },
  export: {
    synopsis: '',
    about: 'Prints every document as a JSON line.',
    operands: [0, 0],
    options: { format },
    run: exportCommand,
  },
  explain: {
    synopsis: 'URL',
    about: 'Tells why a URL is, or is not, in the index.',
    operands: [1, 1],
    options: {
      format,
      'allow-shape': {
        type: 'boolean',
        about: 'First has URLs of its shape fetched again that were put aside as a trap.',
      },
      'allow-parameter': {
        type: 'string',
        value: 'NAME',
        about: 'First keeps this parameter in URLs of its host.',
      },
    },
    run: explainCommand,
  },
  rules: {
    synopsis: 'test [URL|FILE...]',
    about:
      'Shows what the rules of --sources FILE make of pages; without one, tests all of which something is expected.',
    operands: [1, 1_000],
    options: { ...rulesOptions, format },
    run: rulesCommand,
  },
  reindex: {
    synopsis: '',
    about: 'Makes the index again from the stored documents.',
    operands: [0, 0],
    options: {},
    run: reindexCommand,
  },
  check: {
    synopsis: '',
    about: 'Proves the invariants of a data directory.',
    operands: [0, 0],
    options: { format },
    run: checkCommand,
  },
  backup: {
    synopsis: 'FILE|FOLDER',
    about: 'Saves the data directory in one archive, also while a server runs on it.',
    operands: [1, 1],
    options: { ...backupOptions, format },
    run: backupCommand,
  },
  restore: {
    synopsis: 'FILE',
    about: 'Puts a backup into an empty data directory, when all of it is proven whole.',
    operands: [1, 1],
    options: { ...restoreOptions, format },
    run: restoreCommand,
  },
  service: {
    synopsis: 'install|uninstall|status',
    about:
      'Runs Findling as a systemd service; status exits 0 running, 3 stopped, 4 not installed.',
    operands: [1, 1],
    options: {
      format,
      print: { type: 'boolean', about: 'With install: only prints the unit.' },
    },
    run: serviceCommand,
  },
  completion: {
    synopsis: 'bash|zsh|fish',
    about: 'Prints a script that completes commands and options in a shell.',
    operands: [1, 1],
    options: {},
    run: (call) => completionCommand(call, commands),
  },
  config: {
    synopsis: '',
    about: 'Prints each setting and where it came from.',
    operands: [0, 0],
    options: { format },
    run: configCommand,
  },
  health: {
    synopsis: '',
    about: 'Asks the running server whether it is ready.',
    operands: [0, 0],
    options: {},
    run: healthCommand,
  },
  licenses: {
    synopsis: '',
    about: 'Prints the licences of everything of others in this program.',
    operands: [0, 0],
    options: {},
    run: licensesCommand,
  },
  version: {
    synopsis: '',
    about: 'Prints the version.',
    operands: [0, 0],
    options: {
      format,
      json: { type: 'boolean', about: 'With the versions of what it is made of.' },
    },
    run: versionCommand,
  },
}
