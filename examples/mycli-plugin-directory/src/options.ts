import {isAbsolute} from 'node:path';
import type {Backend} from 'mycli/backend';

/** Options of the backend: `backends.directory` of the configuration file, `--backend-option directory=PATH`. */
export interface DirectoryOptions {
  /** Absolute path of the folder for everything. Created if it does not exist. */
  readonly directory?: string | undefined;
}

type Schema = NonNullable<Backend<DirectoryOptions>['options']>;
type Issue = {readonly message: string; readonly path: readonly string[]};

/** A handwritten Standard Schema: a single option needs no library. Those of zod or valibot work, too. */
export const optionsSchema: Schema = {
  '~standard': {
    version: 1,
    vendor: 'mycli-plugin-directory',
    validate(value) {
      const given: Readonly<Record<string, unknown>> = {...(value as object)};
      const {directory} = given;
      const issues: readonly Issue[] = [
        ...Object.keys(given)
          .filter((name) => name !== 'directory')
          .map((name) => ({message: 'is not an option; the only one is "directory"', path: [name]})),
        ...(directory === undefined || (typeof directory === 'string' && isAbsolute(directory))
          ? []
          : [{message: `must be an absolute path, not ${JSON.stringify(directory)}`, path: ['directory']}]),
      ];
      return issues.length > 0 ? {issues} : {value: {directory: directory as string | undefined}};
    },
  },
};
