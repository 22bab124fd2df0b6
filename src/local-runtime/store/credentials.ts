import {randomBytes} from 'node:crypto';
import path from 'node:path';
import * as v from 'valibot';
import {createError} from '../../errors/index.js';
import {systemCode} from '../../errors/system-failure.js';
import type {LocalRuntimeCredentials} from '../options.js';
import {writeJsonFile, readOwnJson} from './data-folder.js';

// The folder may come from someone else, and users put its credentials into shells and dotenv files.
const word = v.pipe(v.string(), v.regex(/^[\w.-]{1,200}$/));
const schema = v.object({apiKey: word, organizationId: word, clientId: word, clientSecret: word});

/** Credentials without the token URL, which depends on the port. */
type StoredCredentials = Omit<LocalRuntimeCredentials, 'tokenUrl'>;

/**
 * Opens the credentials of a data folder, which are created on the first start and readable only by their owner. Those
 * in `given` take precedence and are not stored.
 * @throws RuntimeCliError `ERR_OPTION_INVALID` if the file cannot be read or has characters that generated credentials
 * never have, if a given one is empty, or if the organization ID is longer than 32 characters.
 */
export async function openCredentials(
  dataDirectory: string,
  given: Partial<StoredCredentials>,
): Promise<StoredCredentials> {
  for (const [name, value] of Object.entries(given)) {
    if (value === '') throw createError('ERR_OPTION_INVALID', `The ${name} of a local runtime must not be empty.`);
  }
  const kept = (await readCredentials(dataDirectory)) ?? (await makeCredentials(dataDirectory));
  const organizationId = given.organizationId ?? kept.organizationId;
  if (organizationId.length > 32) {
    throw createError('ERR_OPTION_INVALID', `The organization ID "${organizationId}" is longer than 32 characters.`);
  }
  return {
    apiKey: given.apiKey ?? kept.apiKey,
    organizationId,
    clientId: given.clientId ?? kept.clientId,
    clientSecret: given.clientSecret ?? kept.clientSecret,
  };
}

async function readCredentials(dataDirectory: string): Promise<StoredCredentials | undefined> {
  const file = path.join(dataDirectory, 'credentials.json');
  try {
    return v.parse(schema, await readOwnJson(file));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw createError('ERR_OPTION_INVALID', `The credentials of the data folder cannot be read: ${file}.`, {
      cause: error,
      suggestions: ['Remove the file. New credentials are created at the next start.'],
    });
  }
}

async function makeCredentials(dataDirectory: string): Promise<StoredCredentials> {
  const secret = (bytes: number): string => randomBytes(bytes).toString('hex');
  const credentials = {
    apiKey: secret(20),
    organizationId: `org-${secret(4)}`,
    clientId: `client-${secret(4)}`,
    clientSecret: secret(20),
  };
  await writeJsonFile(path.join(dataDirectory, 'credentials.json'), credentials, path.join(dataDirectory, 'temporary'));
  return credentials;
}
