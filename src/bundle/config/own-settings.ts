import {join} from 'node:path';
import {createError} from '../../errors/index.js';
import {reasonOf, unreadable} from '../../errors/system-failure.js';
import {asRecord, isRecord, parseSettingsJson} from '../../text/json.js';
import {asSentence} from '../../text/sentence.js';
import {exists, readTextFile} from '../../files/read-file.js';
import {loadProjectModule, type CodeTrust} from '../../modules/load-module.js';

/** A framework's own settings for the Runtime, and the file they come from. */
export interface OwnSettings {
  /** Absolute. */
  readonly file: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

const types = ['js', 'yml', 'yaml', 'json'];

/** Reads the settings of a PWA Kit application where its own client does. `target`: where it is deployed to. */
export async function readPwaKitSettings(
  directories: CodeTrust & {readonly build: string},
  target: string | undefined,
): Promise<OwnSettings | undefined> {
  const names = [...(target === undefined || target === '' ? [] : [target]), 'local', 'default'];
  const places = names.flatMap((name) => types.map((type) => `config/${name}.${type}`));
  for (const directory of [directories.build, directories.project]) {
    for (const place of [...places, 'package.json']) {
      const file = join(directory, place);
      const settings = (await exists(file)) ? await load(file, place, directories) : undefined;
      if (settings !== undefined) return {file, settings};
    }
  }
  return undefined;
}

async function load(
  file: string,
  place: string,
  trust: CodeTrust,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (/\.ya?ml$/.test(file)) {
    throw createError('ERR_CONFIG_INVALID', `${file} is YAML, which mycli doesn't read.`, {
      suggestions: ['Write the settings as .js or .json.'],
    });
  }
  const value = file.endsWith('.js') ? (await loadProjectModule(file, trust))['default'] : await readSettingsFile(file);
  if (place !== 'package.json') return asRecord(value);
  const {mobify} = asRecord(value);
  return isRecord(mobify) ? mobify : undefined;
}

/** @throws RuntimeCliError `ERR_CONFIG_INVALID` */
export async function readSettingsFile(file: string): Promise<unknown> {
  const text = await readTextFile(file).catch((error: unknown) => {
    throw unreadable(file, error);
  });
  try {
    return parseSettingsJson(text);
  } catch (error) {
    throw createError('ERR_CONFIG_INVALID', asSentence(`${file} is not valid JSON: ${reasonOf(error)}`), {
      suggestions: ['Correct the file, or build the application again.'],
      cause: error,
    });
  }
}
