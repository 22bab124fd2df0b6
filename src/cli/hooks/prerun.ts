import type {Hook} from '@oclif/core';
import {isRuntimeCliError} from '../../errors/index.js';
import {isOclifError} from '../errors/oclif-errors.js';
import {sessions} from '../session.js';

interface ForeignCommand {
  catch(error: unknown): Promise<unknown>;
  jsonEnabled(): boolean;
}

/**
 * Leaves stdout to commands that are not ours, which print on it what they like. Brings their errors, which oclif's base
 * class would print as JSON of its own with exit code 1, to run.ts like all others. Ours do not get there.
 */
export const prerun: Hook.Prerun = ({Command}) => {
  const session = sessions.getStore();
  if (session !== undefined && Command.plugin?.isRoot === false) {
    session.foreign = true;
    session.output.releaseStdout();
  }
  const base = baseOf(Command.prototype);
  if (base === undefined) return Promise.resolve();
  const original = base.catch;
  base.catch = function (this: ForeignCommand, error: unknown) {
    // What a plugin throws is meant for people, and no fault of ours.
    if (error instanceof Error && !isOclifError(error) && !isRuntimeCliError(error)) {
      Object.assign(error, {oclif: {exit: 1}});
    }
    return this.jsonEnabled() ? Promise.reject(error) : original.call(this, error);
  };
  return Promise.resolve();
};

/** The prototype of oclif's own `Command`, of whichever copy of oclif: the first in the chain of classes. */
function baseOf(prototype: unknown): ForeignCommand | undefined {
  let base: unknown = prototype;
  for (let next = base; next !== null && next !== Object.prototype; next = Object.getPrototypeOf(next)) base = next;
  return isForeignCommand(base) ? base : undefined;
}

function isForeignCommand(value: unknown): value is ForeignCommand {
  return typeof value === 'object' && value !== null && 'catch' in value && 'jsonEnabled' in value;
}
