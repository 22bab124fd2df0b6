import {inspect} from 'node:util';
import type {Interfaces} from '@oclif/core';
import {isRuntimeCliError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {isOclifError, requestedExitCode} from './oclif-errors.js';
import type {Output} from '../output/output.js';
import {Config} from './oclif.js';
import type {Session} from './session.js';

/** What a hook of a plugin has thrown to end the command. */
export class PluginFailure extends Error {
  /** @param plugin name of the plugin */
  constructor(
    readonly plugin: string,
    override readonly cause: unknown,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), {cause});
  }
}

/** oclif's options, which it passes on to every configuration that it makes of ours. */
export interface HostOptions extends Interfaces.Options {
  /** What the run shares with its command. */
  readonly session: Session;
}

/**
 * oclif's configuration, for one run. A failure in a plugin's hook is a warning that names the plugin; only an error
 * with which a hook explicitly exits before the command ends it.
 */
export class HostConfig extends Config {
  constructor(override readonly options: HostOptions) {
    super(options);
  }

  override async runHook<T extends keyof Interfaces.Hooks>(
    event: T,
    options: Interfaces.Hooks[T]['options'],
    timeout?: number,
    captureErrors?: boolean,
  ): Promise<Interfaces.Hook.Result<Interfaces.Hooks[T]['return']>> {
    const outcome = await super.runHook(event, options, timeout, true);
    const {output, foreign} = this.options.session;
    const isOver = event === 'postrun' || event === 'finally';
    for (const {error, plugin} of outcome.failures) {
      output.debug(`${plugin.name}, ${String(event)}: ${stackOf(error)}`);
      if (captureErrors === true) continue;
      if (!isOver && endsCommand(error)) throw foreign ? error : new PluginFailure(plugin.name, error);
      if (requestedExitCode(error) === undefined || isOver)
        output.warn(asSentence(`Plugin ${plugin.name}: its ${String(event)} hook failed: ${oneLine(error)}`));
    }
    return outcome;
  }
}

/** The session of the run that oclif's configuration belongs to; undefined if a command was called without one. */
export function sessionOf(config: Interfaces.Config): Session | undefined {
  const {options} = config as Interfaces.Config & {readonly options?: Partial<HostOptions>};
  return options?.session;
}

function endsCommand(error: Error): boolean {
  return isRuntimeCliError(error) || (isOclifError(error) && (error.oclif.exit ?? 0) !== 0);
}

/** Plugins throw what is no error, too. */
function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function oneLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
}

/**
 * Prints warnings of Node, oclif and plugins' packages like our own, in the document too. `--no-warnings` still
 * suppresses them.
 */
export function adoptWarnings(host: NodeJS.Process, output: Pick<Output, 'warn' | 'debug'>): void {
  if (host.listenerCount('warning') === 0) return;
  host.removeAllListeners('warning');
  host.on('warning', (warning: unknown) => {
    const message = warning instanceof Error ? warning.message : inspect(warning);
    // oclif adds advice on separate lines, but DEBUG has no such effect here.
    const lines = message.split('\n').filter((line) => !line.includes('DEBUG=*'));
    output.warn(asSentence(lines.join(', ')));
    output.debug(stackOf(warning));
  });
}
