import {createError} from '../errors/index.js';
import {suggestNames, near} from '../text/suggest.js';
import {builtIns} from './built-in-backends.js';
import {checkBackendShape, checkedBackend} from './plugins/checked-backend.js';
import type {HostBackend} from './host-backend.js';
import {qualifiedName} from './names.js';
import {asSentence} from '../text/sentence.js';

/** A backend and its source. */
export interface BackendRegistration {
  /** Value for `--runtime-backend`: the backend's name, or `plugin/name` if several plugins have one of that name. */
  readonly name: string;
  /** With its answers checked. */
  readonly backend: HostBackend;
  /** Package that provides it. */
  readonly plugin: string;
  /** Version of the plugin. */
  readonly version?: string | undefined;
}

/** A backend that could not be registered, or a plugin that failed to provide its backends. */
export interface BackendFailure {
  /** Name of the plugin. */
  readonly plugin: string;
  /** One sentence that names the plugin. */
  readonly message: string;
  /** What to do about it, if it is not to update or remove the plugin. */
  readonly suggestion?: string | undefined;
}

/** The available backends, by name. */
export interface BackendRegistry {
  /** In order of registration, built-in ones first. */
  readonly registrations: readonly BackendRegistration[];
  /** What is wrong with plugins. */
  readonly failures: readonly BackendFailure[];
  /** Whether there is a backend with this name, or several. */
  has(name: string): boolean;
  /**
   * The backend with this name, or with this `plugin/name`. Its own name is the one that no other has.
   * @throws RuntimeCliError `ERR_BACKEND_UNKNOWN`, listing the known ones and the failures of plugins, or the
   * plugins that all have one of this name.
   */
  get(name: string): HostBackend;
  /** The same, with its source. @throws as `get`. */
  find(name: string): BackendRegistration;
}

/** What a plugin says is a backend. */
export interface PluginBackend {
  /** Name of the plugin. */
  readonly plugin: string;
  /** Version of the plugin. */
  readonly version?: string | undefined;
  /** What its hook returned. It may be no backend at all. */
  readonly backend: unknown;
}

export const reservedNames: ReadonlySet<string> = new Set(['auto', ...builtIns.keys()]);

/**
 * Registers the built-in backends and those of `plugins`, whose answers are checked from then on. A backend that is
 * malformed, or whose name is reserved or taken by the same plugin, is left out and reported in `failures`.
 * @param failures what went wrong while discovering the plugins
 * @param chosen `plugin/name` of backends to use where several plugins have one of that name
 */
export function createBackendRegistry(
  plugins: readonly PluginBackend[] = [],
  failures: readonly BackendFailure[] = [],
  chosen: readonly string[] = [],
): BackendRegistry {
  const registered: Omit<BackendRegistration, 'name'>[] = [...builtIns.values()].map(({backend}) => ({
    backend,
    plugin: 'mycli',
  }));
  const refused: BackendFailure[] = [...failures];
  for (const {plugin, version, backend} of plugins) {
    const shape = checkBackendShape(backend);
    const problem = shape.ok ? nameProblem(shape.backend.name, plugin, registered) : shape.problem;
    if (problem !== undefined) refused.push({plugin, message: asSentence(`Plugin ${plugin}: ${problem}`)});
    else if (shape.ok) registered.push({backend: checkedBackend(shape.backend, plugin), plugin, version});
  }
  const names = registered.map(({backend}) => backend.name);
  const registrations = registered.map((entry) => {
    const {name} = entry.backend;
    return {...entry, name: names.filter((other) => other === name).length > 1 ? qualified(entry) : name};
  });
  const candidates = (name: string) => {
    const matches = registrations.filter((entry) => entry.backend.name === name || qualified(entry) === name);
    const preferred = matches.filter((entry) => chosen.includes(qualified(entry)));
    return preferred.length === 1 ? preferred : matches;
  };
  const find = (name: string) => {
    const [match, ...others] = candidates(name);
    if (match === undefined) throw unknownBackend(name, registrations, refused);
    if (others.length > 0) throw ambiguousBackend(name, [match, ...others]);
    return match;
  };
  return {
    registrations,
    failures: refused,
    has: (name) => candidates(name).length > 0,
    get(name) {
      const {name: resolved, backend} = find(name);
      return resolved === backend.name ? backend : {...backend, name: resolved};
    },
    find,
  };
}

function nameProblem(
  name: string,
  plugin: string,
  registered: readonly Pick<BackendRegistration, 'plugin' | 'backend'>[],
): string | undefined {
  if (reservedNames.has(name)) return `the backend name "${name}" is reserved`;
  const isTaken = registered.some((other) => other.plugin === plugin && other.backend.name === name);
  return isTaken ? `it has two backends with the name "${name}"` : undefined;
}

function qualified({plugin, backend}: Pick<BackendRegistration, 'plugin' | 'backend'>): string {
  return qualifiedName(plugin, backend.name);
}

function ambiguousBackend(name: string, matches: readonly BackendRegistration[]): Error {
  const plugins = matches.map(({plugin}) => plugin);
  return createError('ERR_BACKEND_UNKNOWN', `Several plugins have a backend named "${name}": ${plugins.join(', ')}.`, {
    suggestions: [
      `Pass ${matches.map((entry) => `--runtime-backend ${qualified(entry)}`).join(' or ')}.`,
      'In mycli.config, use that name in runtimeBackend and backends.',
    ],
    details: {backend: name, plugins},
  });
}

function unknownBackend(
  name: string,
  registrations: readonly BackendRegistration[],
  failures: readonly BackendFailure[],
): Error {
  const names = registrations.map((entry) => entry.name);
  const meant = near(name, ['auto', ...names]);
  const isInstalled = meant.length > 0 || failures.length > 0;
  return createError('ERR_BACKEND_UNKNOWN', `Unknown backend: "${name}". Use auto, ${names.join(', ')}.`, {
    suggestions: [
      ...suggestNames(meant),
      ...(isInstalled ? [] : [['If a plugin adds it, install the plugin: ', {run: ['plugins:install', 'PLUGIN']}]]),
      ...failures.map(({message, suggestion = []}) => [message, suggestion].flat().join(' ')),
    ],
    details: {backend: name, known: names},
  });
}
