import assert from 'node:assert/strict';
import {secretOptions} from '../../backends/configuration.js';
import type {Backend} from '../../backends/contract.js';

/** What the schema of a backend makes of options; without a schema they stay as they are. */
export async function validateOptions(
  {options: schema}: Backend,
  given: unknown,
): Promise<{readonly value: unknown; readonly problems: readonly string[]}> {
  const result = await schema?.['~standard'].validate(given);
  if (!result) return {value: given, problems: []};
  return result.issues
    ? {value: undefined, problems: result.issues.map(({message}) => message)}
    : {value: result.value, problems: []};
}

/** The options of a service, validated. */
export async function usableOptions(backend: Backend, given: unknown): Promise<unknown> {
  const {value, problems} = await validateOptions(backend, given);
  assert.deepEqual(problems, [], `the options of the service do not pass the schema: ${problems.join('; ')}`);
  return value;
}

/** The values of the options that a backend declares to be secrets: what the host masks. */
export function declaredSecrets(backend: Backend, options: unknown): readonly string[] {
  return secretOptions(backend, {backendOptions: asRecord(options)});
}

/** Every text among the options, as the host would find it if all were declared to be secrets. */
export function optionTexts(options: unknown): readonly string[] {
  const all = asRecord(options);
  return secretOptions({secrets: Object.keys(all)}, {backendOptions: all});
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? {...value} : {};
}
