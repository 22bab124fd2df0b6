import type * as v from 'valibot';

/**
 * A setting. Flags, the schema and the type of the configuration file, `config:show`, help, the reference and the
 * library's check of its options are derived from it.
 */
export interface SettingRow {
  /** What changes from run to run. What belongs to the project or its CI is a key and a variable. */
  readonly flag?: {
    /** Without dashes. */
    readonly name: string;
    readonly char?: 'b' | 'm' | 'n' | 'p' | 't' | 'w';
    /** The placeholder for the value in help. */
    readonly value?: string;
  };
  /** Environment variable. @default `MYCLI_` plus the flag in capitals, with underscores; none without a flag */
  readonly variable?: string;
  /**
   * Key in the configuration file, with the object that contains it. Secrets and settings of a single run have none.
   * @default the name of the setting
   */
  readonly config?: string | false;
  /** Validates the value, whatever its source, and the option of the same name in the library. */
  readonly schema: v.GenericSchema;
  /** Its type in the configuration file. @default what its schema accepts of a few samples */
  readonly type?: string;
  /** How text is read, if the type of the schema does not tell. */
  readonly syntax?: Syntax;
  /** Paths are relative to the working directory. Without a default, the setting can be unset. */
  readonly default?: unknown;
  /** The help text: one sentence, in which `{default}` is replaced with the default. */
  readonly summary: string;
  /** What only the reference says. */
  readonly details?: string;
  /** What the types of the configuration and of the library's option say besides: units, limits. */
  readonly notes?: string;
  /** Completes "No ... specified". @default the name of the setting */
  readonly label?: string;
  /** Whether a v1 bundle ignores it, of which a build warns. */
  readonly v2Only?: true;
  /** Whether it affects how an archive is built, so that it does not apply to a prebuilt one. */
  readonly building?: true;
  /** Of an address: the settings of the secrets that go there, with a built-in backend or with any. */
  readonly receives?: {readonly backend?: 'api' | 'legacy'; readonly secrets: readonly string[]};
  /** Whether `targets` of the configuration file can replace it for a target. `only`: it is nowhere else. */
  readonly perTarget?: true | 'only';
}

/** Settings by name, in display order. */
export type SettingRows = Readonly<Record<string, SettingRow>>;

/**
 * How text becomes a value. `id`: a name, which has no spaces or quotation marks around it. `backendOptions`: pairs for
 * the chosen backend, which decides what the texts mean. `headers`: pairs whose values can be `@FILE`. `packages`:
 * JSON, `@FILE` or `auto`.
 */
export type Syntax =
  | 'text'
  | 'id'
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
  | 'headers'
  | 'backendOptions'
  | 'packages';
