import {createError, nearest} from '../../errors/index.js';
import {isRecord} from '../settings/parsers.js';

/** Where secrets go instead, by the key that people try. */
const places: Readonly<Record<string, string>> = {
  apikey: 'Set MYCLI_API_KEY, or give --api-key @FILE.',
  clientsecret: 'Set MYCLI_CLIENT_SECRET, or give --client-secret @FILE.',
  apitoken: 'Set MYCLI_API_TOKEN, or give --api-token @FILE.',
  accesstoken: 'Set MYCLI_API_TOKEN, or give --api-token @FILE.',
  token: 'Set MYCLI_API_TOKEN, or give --api-token @FILE.',
  password: 'Set MYCLI_API_KEY, or give --api-key @FILE.',
  secret: 'Set MYCLI_CLIENT_SECRET, or give --client-secret @FILE.',
};
const secretKey = /^(?:.*(?:apikey|clientsecret|token|password|secret|privatekey)|credentials?)$/;

/**
 * Refuses secrets and unknown keys. `known`: the keys of each object, `''` for the file itself; objects that are not
 * listed take any key, and only those of backends are looked through for secrets.
 * @throws RuntimeCliError `ERR_CONFIG_SECRET`, `ERR_CONFIG_INVALID`.
 */
export function checkConfigKeys(
  config: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, readonly string[]>>,
  file: string,
): void {
  for (const [name, keys] of Object.entries(known)) {
    const object = name === '' ? config : config[name];
    if (!isRecord(object)) continue;
    for (const key of Object.keys(object)) {
      if (!keys.includes(key)) refuse(file, name === '' ? key : `${name}.${key}`, keys);
    }
  }
  const backends = isRecord(config['backends']) ? config['backends'] : {};
  for (const [name, options] of Object.entries(backends)) {
    if (!isRecord(options)) continue;
    for (const key of Object.keys(options)) {
      if (isSecretKey(key)) refuseSecret(file, `backends.${name}.${key}`, `Set MYCLI_BACKEND_OPTION to ${key}=...`);
    }
  }
}

function refuse(file: string, path: string, keys: readonly string[]): never {
  const key = path.slice(path.lastIndexOf('.') + 1);
  if (isSecretKey(key)) {
    const place = places[normalized(key)] ?? 'Put it into an environment variable, such as MYCLI_API_KEY.';
    refuseSecret(file, path, place);
  }
  const meant = nearest(key, keys);
  throw createError('ERR_CONFIG_INVALID', `${file} has the unknown key ${path}.`, {
    suggestions: [meant === undefined ? `Known keys: ${keys.join(', ')}.` : `Did you mean ${meant}?`],
  });
}

function refuseSecret(file: string, path: string, place: string): never {
  throw createError(
    'ERR_CONFIG_SECRET',
    `${file} holds a secret, ${path}: secrets do not belong in a file that is shared.`,
    {
      suggestions: [place, `Remove ${path} from the file, and replace the secret if others can read it.`],
    },
  );
}

/** Whether a key sounds like that of a secret. */
export function isSecretKey(key: string): boolean {
  return secretKey.test(normalized(key));
}

function normalized(key: string): string {
  return key.replaceAll(/[-_]/g, '').toLowerCase();
}
