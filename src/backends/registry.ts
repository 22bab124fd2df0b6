import {createError, nearest} from '../errors/index.js';
import {builtIns} from './built-ins.js';
import {checkBackendShape, checkedBackend} from './checked-backend.js';
import type {Backend} from './contract.js';
import {asSentence} from '../errors/sentence.js';

/** A backend and its source. */
export interface BackendRegistration {
  readonly backend: Backend;
  /** Package that provides it. */
  readonly plugin: string;
  readonly version?: string | undefined;
}

/** A backend that could not be registered, or a plugin that failed to provide its backends. */
export interface BackendFailure {
  readonly plugin: string;
  /** One sentence that names the plugin. */
  readonly message: string;
}

/** The available backends, by name. */
export interface BackendRegistry {
  /** In order of registration, built-in ones first. */
  readonly registrations: readonly BackendRegistration[];
  readonly failures: readonly BackendFailure[];
  /** Whether there is a backend with this name. */
  has(name: string): boolean;
  /**
   * The backend with this name.
   * @throws RuntimeCliError `ERR_BACKEND_UNKNOWN`, listing the known ones and the failures of plugins.
   */
  get(name: string): Backend;
}

const reservedNames: ReadonlySet<string> = new Set(['auto', ...builtIns.keys()]);

/**
 * Registers the built-in backends and those of `plugins`, whose answers are checked from then on. A backend that is
 * malformed, or whose name is reserved or taken, is left out and reported in `failures`.
 * @param plugins in order of precedence for names
 * @param failures what went wrong while discovering the plugins
 */
export function createBackendRegistry(
  plugins: readonly {readonly plugin: string; readonly version?: string | undefined; readonly backend: unknown}[] = [],
  failures: readonly BackendFailure[] = [],
): BackendRegistry {
  const registered = new Map<string, BackendRegistration>(
    Array.from(builtIns, ([name, {backend}]) => [name, {backend, plugin: 'mycli'}]),
  );
  const refused: BackendFailure[] = [...failures];
  for (const {plugin, version, backend} of plugins) {
    const shape = checkBackendShape(backend);
    if (!shape.ok) {
      refused.push({plugin, message: asSentence(`Plugin ${plugin}: ${shape.problem}`)});
      continue;
    }
    const {name} = shape.backend;
    const taken = registered.get(name);
    if (reservedNames.has(name)) {
      refused.push({plugin, message: `Plugin ${plugin}: the backend name "${name}" is reserved.`});
    } else if (taken) {
      refused.push({
        plugin,
        message: `Plugin ${plugin}: the backend name "${name}" is already taken by ${taken.plugin}.`,
      });
    } else {
      registered.set(name, {backend: checkedBackend(shape.backend, plugin), plugin, version});
    }
  }
  return {
    registrations: [...registered.values()],
    failures: refused,
    has: (name) => registered.has(name),
    get(name) {
      const found = registered.get(name);
      if (found) return found.backend;
      throw unknownBackend(name, [...registered.keys()], refused);
    },
  };
}

function unknownBackend(name: string, known: readonly string[], failures: readonly BackendFailure[]): Error {
  const near = nearest(name, ['auto', ...known]);
  return createError('ERR_BACKEND_UNKNOWN', `Unknown backend: "${name}". Use auto, ${known.join(', ')}.`, {
    suggestions: [...(near ? [`Did you mean "${near}"?`] : []), ...failures.map(({message}) => message)],
    details: {backend: name, known},
  });
}
