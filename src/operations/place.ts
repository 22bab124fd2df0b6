import {backendLocation} from '../backends/configuration.js';
import type {RuntimeBackend} from '../backends/select.js';
import type {Host} from './host.js';
import {configDirectoryOf, registryOf} from './open-backend.js';
import type {CommonOptions, ConnectionOptions} from './options.js';
import type {PushPlace} from './push/records.js';

/** How much a server's clock may be ahead of ours, in milliseconds. */
export const clockSkewMs = 60_000;

/** The place that records of an operation belong to. */
export function placeOf(
  backend: RuntimeBackend,
  options: CommonOptions & ConnectionOptions & {readonly projectSlug: string},
  host: Host,
): PushPlace {
  const surroundings = {configDirectory: configDirectoryOf(options, host), env: host.env};
  const location = backendLocation(registryOf(options).get(backend), options, surroundings);
  return {...location, projectSlug: options.projectSlug};
}
