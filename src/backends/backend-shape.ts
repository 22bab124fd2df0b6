import {BACKEND_API_VERSION, type Backend, type BackendCapability} from './contract.js';
import {isRecord} from '../errors/json.js';
import {reasonOf} from '../errors/system-failure.js';

const namePattern = /^[a-z][a-z0-9-]{0,31}$/;
const formats: ReadonlySet<unknown> = new Set(['v1', 'v2']);

/** The members that a capability promises. */
const membersOf: Readonly<Record<BackendCapability, keyof Backend>> = {
  deploy: 'deploy',
  wait: 'getDeployment',
  list: 'listBundles',
  history: 'listDeployments',
  download: 'download',
  delete: 'deleteBundle',
};

/** Whether `value` has the shape of a backend of this version of the contract; never by `instanceof`. */
export function checkBackendShape(
  value: unknown,
): {readonly ok: true; readonly backend: Backend} | {readonly ok: false; readonly problem: string} {
  try {
    if (!isRecord(value)) return {ok: false, problem: 'a backend must be an object'};
    const problem = problemOf(value);
    return problem === undefined ? {ok: true, backend: value as unknown as Backend} : {ok: false, problem};
  } catch (error) {
    // A getter or a proxy of the plugin's own.
    return {ok: false, problem: `a backend cannot be read: ${reasonOf(error)}`};
  }
}

function problemOf(value: Readonly<Record<string, unknown>>): string | undefined {
  const name = value['name'];
  if (typeof name !== 'string' || !namePattern.test(name)) {
    return `the backend name ${JSON.stringify(name)} does not match ${namePattern.source}`;
  }
  if (value['apiVersion'] !== BACKEND_API_VERSION) {
    return `backend "${name}" is made for version ${String(value['apiVersion'])} of the contract, this host speaks ${String(BACKEND_API_VERSION)}`;
  }
  if (typeof value['summary'] !== 'string') return `backend "${name}" has no summary`;
  if (!isListOf(value['formats'], (item) => formats.has(item)) || value['formats'].length === 0) {
    return `backend "${name}": formats must list v1, v2 or both`;
  }
  const capabilities = value['capabilities'];
  if (
    !isListOf(
      capabilities,
      (item): item is BackendCapability => typeof item === 'string' && Object.hasOwn(membersOf, item),
    )
  ) {
    return `backend "${name}": capabilities must be a list of ${Object.keys(membersOf).join(', ')}`;
  }
  if (value['options'] !== undefined && !isStandardSchema(value['options'])) {
    return `backend "${name}": options must be a Standard Schema`;
  }
  if (value['secrets'] !== undefined && !isListOf(value['secrets'], (item) => typeof item === 'string')) {
    return `backend "${name}": secrets must be a list of names of options`;
  }
  if (value['uploadStream'] !== undefined && typeof value['uploadStream'] !== 'function') {
    return `backend "${name}": uploadStream must be a function`;
  }
  const missing = ['check', 'upload', ...capabilities.map((capability) => membersOf[capability])].find(
    (member) => typeof value[member] !== 'function',
  );
  return missing === undefined ? undefined : `backend "${name}" has no function ${missing}`;
}

/** The schemas of some libraries are functions. */
function isStandardSchema(value: unknown): boolean {
  if (!isRecord(value) && typeof value !== 'function') return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return isRecord(standard) && typeof standard['validate'] === 'function';
}

function isListOf<Item>(
  value: unknown,
  is: ((item: unknown) => item is Item) | ((item: unknown) => boolean),
): value is Item[] {
  return Array.isArray(value) && value.every((item) => is(item));
}
