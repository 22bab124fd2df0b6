import {flagValue} from '../../errors/suggest.js';
import {defaultListLimit} from '../../operations/options.js';
import {Flags} from '../process/oclif.js';
import type {FlagValues} from '../settings/resolve-settings.js';
import {
  definitions,
  flagSets,
  secretKeys,
  settingKeys,
  summaryOf,
  variableOf,
  type FlagsBySet,
  type SettingKey,
} from '../settings/definitions.js';

/** How to define the flag of a setting, by its shape. */
const shapes = {
  one: (key: SettingKey) => Flags.string(optionProperties(key)),
  several: (key: SettingKey) => Flags.string({...optionProperties(key), multiple: true, multipleNonGreedy: true}),
  // `--no-...` overrides the environment and the configuration file.
  switch: (key: SettingKey) => Flags.boolean({...properties(key), allowNo: true}),
};
type Shapes = {[Shape in keyof typeof shapes]: ReturnType<(typeof shapes)[Shape]>};

function optionProperties(key: SettingKey) {
  const {flag, kind} = definitions[key];
  const {options} = kind;
  // oclif completes these options in shells. base-command.ts keeps it from validating them, since it cannot validate
  // variables.
  return {
    ...properties(key),
    helpValue: flag?.value ?? options?.join('|') ?? 'VALUE',
    ...(options === undefined ? {} : {options: [...options]}),
  };
}

// Flags have `env` so that help and the manifest show it. oclif never reads it (see base-command.ts), which would hide
// the source of a value and not split lists.
function properties(key: SettingKey) {
  const {flag, set} = definitions[key];
  const env = variableOf(key);
  return {
    ...(flag?.char === undefined ? {} : {char: flag.char}),
    helpGroup: flagSets[set],
    summary: summaryOf(key),
    ...(env === undefined ? {} : {env}),
  };
}

const sets = Object.keys(flagSets).map((set) => {
  const flags = settingKeys.flatMap((key) => {
    const {set: own, flag, kind} = definitions[key];
    return flag === undefined || own !== set ? [] : [[flag.name, shapes[kind.shape](key)] as const];
  });
  return [set, Object.fromEntries<unknown>(flags)] as const;
});

// TypeScript cannot know that a loop covered every row.
export const {
  connection: connectionFlags,
  rateLimit: rateLimitFlags,
  bundle: bundleFlags,
  push: pushFlags,
  wait: waitFlags,
  slot: waitForSlotFlag,
  events: eventsFlag,
  check: checkFlags,
  rollback: rollbackFlag,
} = Object.fromEntries<unknown>(sets) as FlagsBySet<Shapes>;

/** Flags of every command. */
export const globalFlags = {
  json: Flags.boolean({helpGroup: 'GLOBAL', summary: 'Print one JSON document to stdout, and nothing else.'}),
  cwd: Flags.string({
    char: 'C',
    helpGroup: 'GLOBAL',
    helpValue: 'DIR',
    summary: 'Run as if started in this directory.',
  }),
  config: Flags.string({
    helpGroup: 'GLOBAL',
    helpValue: 'FILE',
    summary: 'Configuration file; default: search the working directory and its parents.',
  }),
  debug: Flags.boolean({
    helpGroup: 'GLOBAL',
    summary: 'Log details and stack traces to stderr (same as DEBUG=mycli*).',
  }),
  quiet: Flags.boolean({
    helpGroup: 'GLOBAL',
    summary: 'Show only results, warnings and errors.',
  }),
};

/** Flags that suggested commands include anyway. */
const named: ReadonlySet<string> = new Set(['project', 'target', 'runtime-backend']);
const secretFlags: ReadonlySet<string> = new Set(secretKeys.flatMap((key) => definitions[key].flag?.name ?? []));

/**
 * The given flags that a suggested command must repeat to reach the same backend. Never a secret, only the name of its
 * file.
 */
export function repeatedFlags(given: FlagValues): readonly string[] {
  const names = [...Object.keys(connectionFlags), 'config', 'cwd'].filter((name) => !named.has(name));
  return names.flatMap((name) =>
    [given[name]]
      .flat()
      .filter((value) => typeof value === 'string')
      .filter((value) => !secretFlags.has(name) || value.startsWith('@'))
      .flatMap((value) => flagValue(`--${name}`, value)),
  );
}

/** Which part of a table to show. */
export const columnsFlag = {
  columns: Flags.string({
    helpGroup: 'LIST',
    helpValue: 'NAMES',
    summary: 'Comma-separated columns to show, in this order.',
  }),
};

/** Which part of a list to show. */
export const listFlags = {
  limit: Flags.integer({
    helpGroup: 'LIST',
    helpValue: 'N',
    min: 1,
    summary: `Maximum number to show; default ${defaultListLimit}.`,
  }),
  offset: Flags.integer({
    helpGroup: 'LIST',
    helpValue: 'N',
    min: 0,
    summary: 'Number of newest entries to skip; default 0.',
  }),
  all: Flags.boolean({helpGroup: 'LIST', exclusive: ['limit'], summary: 'Show all entries.'}),
  ...columnsFlag,
};

/** Where to write the outputs for other CI systems. */
export const outputEnvFlag = {
  'output-env': Flags.string({
    helpValue: 'FILE',
    summary: 'Write MYCLI_BUNDLE_ID and the other outputs to this file, in dotenv format.',
    helpGroup: 'CI',
  }),
};
