import {realpathSync} from 'node:fs';
import {relative, resolve} from 'node:path';
import type {Interfaces} from '@oclif/core';
import {isRuntimeCliError} from '../../errors/index.js';
import {placesIn} from '../../errors/places.js';
import {messageOf} from '../../errors/system-failure.js';
import {isOutside} from '../../text/paths.js';
import {asClause, oneLine} from '../../text/sentence.js';
import type {Output} from '../output/output.js';
import {isOclifError} from './error-report.js';

/** For the end of a warning about a plugin. */
export const goesOn = 'The command continues without it.';

/**
 * An error of a plugin's code, as one whose message says in which of its files it failed. What a plugin says with
 * `this.error()`, or with a code of ours, is meant for users and stays as it is.
 * @param targets The files that were loaded, relative to the plugin's folder.
 */
export function locatedError(
  error: unknown,
  {root}: Pick<Interfaces.Plugin, 'root'>,
  targets: readonly string[],
): Error {
  if (isRuntimeCliError(error)) return error;
  const said = oneLine(messageOf(error));
  if (isOclifError(error) && 'code' in error && error.code === 'MODULE_NOT_FOUND') {
    // oclif puts the file that it has loaded before the message of Node, which names the file that lacks something.
    const ofNode = said.replace(/^\[MODULE_NOT_FOUND\] .*? failed to load .*?: /, '');
    return new Error(asClause(ofNode), {cause: error});
  }
  if (isOclifError(error) && said !== '') return error;
  const reason = asClause(said || (error instanceof Error ? error.name : ''));
  return new Error(`${reason} (${placeOf(error, realpathSync(root), targets)})`, {cause: error});
}

/** What has failed of a hook, as `locatedError`s. Shows their stacks with `--debug`. */
export function locateFailures(
  {failures}: Pick<Interfaces.Hook.Result<unknown>, 'failures'>,
  hook: string,
  output: Pick<Output, 'debug'>,
): Interfaces.Hook.Result<unknown>['failures'] {
  return failures.map(({error, plugin}) => {
    debugFailure(output, `${plugin.name}, ${hook}`, error);
    const targets = (plugin.hooks[hook] ?? []).map(({target}) => target);
    return {plugin, error: locatedError(error, plugin, targets)};
  });
}

/** Where a plugin failed: the line of its code that threw, or else the files that were loaded. */
function placeOf(error: unknown, root: string, targets: readonly string[]): string {
  const place = placesIn(error).find(({path}) => !isOutside(relative(root, path)));
  if (place !== undefined) return `${place.path}:${place.line}`;
  const files = targets.map((target) => resolve(root, target)).join(' or ');
  // Node tells the line only when it prints the error itself.
  return error instanceof SyntaxError ? `${files} or what it imports; run it with node to see the line` : files;
}

/** The stack of what a plugin has thrown, which may be no error. */
export function debugFailure(output: Pick<Output, 'debug'>, what: string, error: unknown): void {
  const stack = error instanceof Error ? error.stack : undefined;
  output.debug(`${what}: ${stack ?? messageOf(error)}`);
}
