import {Flags} from '../process/oclif.js';
import {
  definitions,
  flagSets,
  settingKeys,
  summaryOf,
  variableOf,
  type FlagsBySet,
  type SettingKey,
} from '../settings/definitions.js';

/** What becomes of the flag of a setting, by its shape. */
const shapes = {
  one: (key: SettingKey) => Flags.string(optionProperties(key)),
  several: (key: SettingKey) => Flags.string({...optionProperties(key), multiple: true, multipleNonGreedy: true}),
  // `--no-...` turns off what the environment or the configuration file turned on.
  switch: (key: SettingKey) => Flags.boolean({...properties(key), allowNo: true}),
};
type Shapes = {[Shape in keyof typeof shapes]: ReturnType<(typeof shapes)[Shape]>};

function optionProperties(key: SettingKey) {
  const {flag, kind} = definitions[key];
  const {options} = kind;
  // oclif offers the options to shells; base-command.ts keeps it from judging them, as it cannot judge variables.
  return {
    ...properties(key),
    helpValue: flag?.value ?? options?.join('|') ?? 'VALUE',
    ...(options === undefined ? {} : {options: [...options]}),
  };
}

// Flags carry `env` so that help and the manifest name it. oclif never reads it (base-command.ts): it would hide where a
// value comes from, and would not split lists.
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

// TypeScript cannot know that a loop met every row.
export const {
  connection: connectionFlags,
  rateLimit: rateLimitFlags,
  bundle: bundleFlags,
  push: pushFlags,
  wait: waitFlags,
  slot: waitForSlotFlag,
} = Object.fromEntries<unknown>(sets) as FlagsBySet<Shapes>;

/** Flags of every command. */
export const globalFlags = {
  json: Flags.boolean({helpGroup: 'GLOBAL', summary: 'Print one JSON document on stdout, and nothing else there.'}),
  cwd: Flags.string({
    char: 'C',
    helpGroup: 'GLOBAL',
    helpValue: 'DIR',
    summary: 'Run as if started in this folder.',
  }),
  config: Flags.string({
    helpGroup: 'GLOBAL',
    helpValue: 'FILE',
    summary: 'Configuration file; found by itself when omitted.',
  }),
  debug: Flags.boolean({
    helpGroup: 'GLOBAL',
    summary: 'Say on stderr what is done, with stacks of errors (or DEBUG=mycli*).',
  }),
  quiet: Flags.boolean({
    helpGroup: 'GLOBAL',
    summary: 'No progress and no remarks: results, warnings and errors only.',
  }),
};

/** Which part of a table to show. */
export const columnsFlag = {
  columns: Flags.string({
    helpGroup: 'LIST',
    helpValue: 'NAMES',
    summary: 'Columns to show, in this order, separated by commas.',
  }),
};

/** Which part of a list to show. */
export const listFlags = {
  limit: Flags.integer({helpGroup: 'LIST', helpValue: 'N', min: 1, summary: 'How many to show at most; default 25.'}),
  offset: Flags.integer({
    helpGroup: 'LIST',
    helpValue: 'N',
    min: 0,
    summary: 'How many of the newest to pass over; default 0.',
  }),
  all: Flags.boolean({helpGroup: 'LIST', exclusive: ['limit'], summary: 'Show all, however many there are.'}),
  ...columnsFlag,
};

/** Where the outputs for other CI systems go. */
export const outputEnvFlag = {
  'output-env': Flags.string({
    helpValue: 'FILE',
    summary: 'Write MYCLI_BUNDLE_ID and what else came of it to this file, as dotenv.',
    helpGroup: 'CI',
  }),
};
