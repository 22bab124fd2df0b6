import type * as v from 'valibot';

/**
 * A setting. Flags, the schema and the type of the configuration file, `config:show`, help, the reference and the
 * library's check of its options are derived from it.
 */
export interface SettingRow {
  /** Determines which commands have its flag, and its heading in help and in the reference. */
  readonly set: FlagSet;
  /** Without one, only the configuration file can set it. */
  readonly flag?: {
    /** Without dashes. */
    readonly name: string;
    readonly char?: 'b' | 'm' | 'n' | 'p' | 't' | 'w';
    /** The placeholder for the value in help. */
    readonly value?: string;
    /** Whether it works but help leaves it out: it rarely changes from run to run. */
    readonly hidden?: true;
  };
  /** Environment variable. @default `MYCLI_` plus the flag in capitals, with underscores */
  readonly variable?: string;
  /**
   * Key in the configuration file, with the object that contains it. Secrets and settings of a single run have none.
   * @default the name of the setting
   */
  readonly config?: string | false;
  /** Validates the value, whatever its source, and the option of the same name in the library. */
  readonly schema: v.GenericSchema;
  /** How text is read, if the type of the schema does not tell. */
  readonly syntax?: Syntax;
  /** Paths are relative to the working directory. Without a default, the setting can be unset. */
  readonly default?: unknown;
  /** The help text: one sentence, in which `{default}` is replaced with the default. */
  readonly summary: string;
  /** What only the reference says. */
  readonly details?: string;
  /** Completes "No ... specified". @default the name of the setting */
  readonly label?: string;
  /** What to do about a value that the library refuses. */
  readonly advice?: string;
  /** Whether it cannot be used with the v1 format. */
  readonly v2Only?: true;
  /** Whether it affects how an archive is built, so that it does not apply to a prebuilt one. */
  readonly building?: true;
  /** Whether `targets` of the configuration file can replace it for a target. */
  readonly perTarget?: true;
  /** Other names that people try in a configuration file, where a secret is not allowed. */
  readonly aliases?: readonly string[];
}

/**
 * How text becomes a value. `backendOptions`: pairs for the chosen backend, which decides what the texts mean.
 * `packages`: JSON, `@FILE` or `auto`.
 */
export type Syntax =
  | 'text'
  | 'url'
  | 'path'
  | 'secret'
  | 'word'
  | 'switch'
  | 'number'
  | 'list'
  | 'words'
  | 'numbers'
  | 'pairs'
  | 'backendOptions'
  | 'packages';

/** Sets of flags that a command can have, with their headings. */
export const flagSets = {
  /** The project, the backend, and how to reach it. */
  connection: 'CONNECTION',
  /** What goes into a bundle, and its description. */
  bundle: 'BUNDLE',
  /** How to push a bundle. */
  push: 'BUNDLE',
  /** Whether and how long to wait for a deployment. */
  wait: 'DEPLOYMENT',
  /** What to do when another deployment to the target is running. */
  slot: 'DEPLOYMENT',
  /** What to check after a deployment. */
  check: 'DEPLOYMENT',
  /** What to do when a deployment or its check fails. */
  rollback: 'DEPLOYMENT',
  /** How to retry rate-limited requests. */
  rateLimit: 'OTHER',
  /** Where to write what happens. */
  events: 'OTHER',
  /** What must hold before something is deployed to a target. */
  guard: 'GUARD',
} as const;
/** The name of a set of flags. */
export type FlagSet = keyof typeof flagSets;
