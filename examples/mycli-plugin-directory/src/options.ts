import type {Backend} from 'mycli/backend';

/** Options of the backend: `backends.directory` of the configuration file, `--backend-option directory=PATH`. */
export interface DirectoryOptions {
  /**
   * Path of the folder for everything, relative to that of the configuration file. Created if it does not exist.
   */
  readonly directory?: string | undefined;
  /** Whether the files of each bundle are stored next to its archive, for servers that do not unpack. @default false */
  readonly unpack?: boolean | undefined;
}

type Schema = NonNullable<Backend<DirectoryOptions>['options']>;
type Issue = {readonly message: string; readonly path: readonly string[]};

const names: readonly string[] = ['directory', 'unpack'] satisfies readonly (keyof DirectoryOptions)[];

/** A handwritten Standard Schema: two options need no library. Those of zod or valibot work, too. */
export const optionsSchema: Schema = {
  '~standard': {
    version: 1,
    vendor: 'mycli-plugin-directory',
    validate(value) {
      const given: Readonly<Record<string, unknown>> = {...(value as object)};
      const {directory, unpack} = given;
      const issues: readonly Issue[] = [
        ...Object.keys(given)
          .filter((name) => !names.includes(name))
          .map((name) => ({message: `is not an option; there are ${names.join(' and ')}`, path: [name]})),
        ...(directory === undefined || (typeof directory === 'string' && directory !== '')
          ? []
          : [{message: `must be the path of a folder, not ${JSON.stringify(directory)}`, path: ['directory']}]),
        ...(unpack === undefined || typeof unpack === 'boolean'
          ? []
          : [{message: `must be true or false, not ${JSON.stringify(unpack)}`, path: ['unpack']}]),
      ];
      return issues.length > 0 ? {issues} : {value: given};
    },
  },
};
