import {resolve} from 'node:path';
import process from 'node:process';
import {inspect} from 'node:util';
import type {Interfaces} from '@oclif/core';
import {setLogger} from '@oclif/core/logger';
import {settings} from '@oclif/core/settings';
import {runningPlugin} from '../../backends/plugins/plugin-code.js';
import {amendError, createError, isRuntimeCliError} from '../../errors/index.js';
import {asSentence} from '../../text/sentence.js';
import {checkBeforeRetrying} from '../../errors/suggestion.js';
import {messageOf, systemCode} from '../../errors/system-failure.js';
import {
  asOwnError,
  blameUserCode,
  endedEarly,
  isUsageError,
  reportOf,
  requestedExitCode,
  thrownBy,
  usageError,
} from './error-report.js';
import {GroupedHelp} from './help.js';
import type {ErrorDocument} from '../output/documents.js';
import {stdoutError, type Output} from '../output/output.js';
import {
  asksFor,
  commandFirst,
  givenValue,
  helpFlags,
  isOclifCommand,
  joinWords,
  leadingWords,
  spellHelp,
  versionFlags,
} from './command-line.js';
import {completionRequest} from './complete.js';
import {createSession, type Session} from './session.js';
import {ownSignals, yieldTerminal} from './signals.js';
import {loadConfig, type HostConfig} from './host-config.js';
import {isVerbFirst, unknownCommand} from './unknown-command.js';
import {lackingPart, skipsPlugins, userPlugins} from './plugins.js';

// oclif loads it by name from this file, which is loaded already.
export {GroupedHelp};

/** Runs a command and ends the process. Errors become text, JSON and exit codes only here. */
export async function run(host: NodeJS.Process, root: string): Promise<void> {
  let hasEnded = false;
  const end = (exitCode: number) => {
    hasEnded = true;
    leave(session);
    host.exit(exitCode);
  };
  const {signal, overdue, guardCode} = ownSignals(host, end);
  const session = createSession(host, signal, guardCode);
  const {failed, isClosedPipe} = watchProcess(host, root, session);
  host.once('exit', () => {
    if (hasEnded) return;
    // Something that the command called has ended the process, or nothing is left to continue it.
    const [waiting] = session.hooking;
    if (!session.foreign) host.exitCode = conclude(session, endedEarly(runningPlugin.getStore() ?? waiting));
    leave(session);
  });
  host.once('SIGINT', () => session.output.endLine());
  adoptWarnings(host, session.output);
  if (session.output.interactive) yieldTerminal(host, session.output);
  session.output.redirectStdout();
  const running = async () => {
    await runCommand(host, root, session);
    printDocument(session);
    await session.output.flush();
  };
  try {
    await Promise.race([running(), overdue, failed]);
    const exitCode = succeed(session);
    // A plugin's exit code is not the outcome of our command.
    end(session.foreign ? Number(host.exitCode ?? 0) : exitCode);
  } catch (error) {
    if (signal.aborted) await Promise.all(session.cleanups);
    const exitCode = isClosedPipe(error) ? succeed(session) : conclude(session, error);
    // A stalled reader must not keep an interrupted process alive.
    if (!signal.aborted) await session.output.flush().catch(() => undefined);
    end(exitCode);
  }
}

/** `failed` rejects for uncaught exceptions, and for streams that cannot be written unless their reader has left. */
function watchProcess(host: NodeJS.Process, root: string, {cwd, output}: Pick<Session, 'cwd' | 'output'>) {
  let pipeClosed = false;
  const failed = new Promise<never>((_resolve, reject) => {
    const blamed = (error: unknown) =>
      blameUserCode(error, root, resolve(cwd, givenValue(host.argv.slice(2), '--cwd', '-C') ?? ''));
    host.on('uncaughtException', (error) => {
      const plugin = runningPlugin.getStore();
      reject(plugin === undefined ? blamed(error) : thrownBy(plugin, error));
    });
    host.on('unhandledRejection', (reason) => {
      const plugin = runningPlugin.getStore();
      if (plugin === undefined) reject(blamed(reason));
      else {
        // Nothing waits for it, so it must not end what others do, such as a push.
        output.debug(`${plugin}: ${inspect(reason)}`);
        output.warn(asSentence(`Plugin ${plugin} rejected a promise that nothing waits for: ${messageOf(reason)}`));
      }
    });
    // Before oclif's own listener, which throws.
    host.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') pipeClosed = true;
      else reject(stdoutError(error));
    });
    // Nobody is left to tell.
    host.stderr.on('error', () => undefined);
  });
  return {failed, isClosedPipe: (error: unknown) => pipeClosed && systemCode(error) === 'EPIPE'};
}

/** Prints warnings of Node, oclif and packages like our own. `--no-warnings` still suppresses them. */
function adoptWarnings(host: NodeJS.Process, output: Output): void {
  if (host.listenerCount('warning') === 0) return;
  host.removeAllListeners('warning');
  host.on('warning', (warning: unknown) => {
    const detail = warning instanceof Error && 'detail' in warning ? String(warning.detail) : '';
    // Our configuration names the command of a plugin that cannot be loaded.
    if (/^task: findCommand /m.test(detail)) return;
    output.warn(asSentence(warningText(warning, detail)));
    output.debug(inspect(warning));
  });
}

function warningText(warning: unknown, detail: string): string {
  // oclif's text is only the name of the error. The rest is in the detail.
  const [plugin, task, reason] = ['plugin', 'task', 'message'].map((name) => {
    return new RegExp(`^${name}: (.*)`, 'm').exec(detail)?.[1];
  });
  if (plugin === undefined) return messageOf(warning);
  return `Plugin ${plugin}: ${task ?? 'loading'} failed: ${reason ?? messageOf(warning)}`;
}

async function runCommand(host: NodeJS.Process, root: string, session: Session): Promise<void> {
  if (session.cwd === '') {
    const suggestions = ['Change to a folder that exists.'];
    throw createError('ERR_OPTION_INVALID', 'The working directory no longer exists.', {suggestions});
  }
  // Hooks that are not built are run from their TypeScript: oclif needs tsx for it, and warns without it.
  settings.enableAutoTranspile = false;
  const typed = host.argv.slice(2);
  const given = commandFirst(spellHelp(typed));
  // oclif would report the version of a plugin that was there before, which it has read.
  const installs = /^plugins[: ]install(?: |$)/.test(given.join(' '));
  const loadsPlugins = !skipsPlugins(host.env) && !installs;
  const options = {root, logger: silentLogger, userPlugins: loadsPlugins, session: () => session};
  setLogger(options);
  if (typed[0] === completionRequest) {
    const {answerCompletion} = await import('./answer-completion.js');
    return answerCompletion(typed.slice(typed.indexOf('--') + 1), options);
  }
  const config = await session.guardCode(() => loadConfig(options, given));
  // A plugin's alias may be a command of ours.
  const own = config.commands.filter(({pluginName}) => pluginName === config.name);
  const short = own.flatMap(({id, aliases}) => {
    const alias = aliases.find((name) => !name.includes(':'));
    return alias === undefined ? [] : [[id, alias] as const];
  });
  session.output.completeHints({aliases: new Map(short)});
  const args = joinWords(given, config);
  const [id = '', ...argv] = args;
  // Not `run` of oclif: it would make a configuration of its own, and so not name plugins that fail.
  await config.runHook('init', {argv, id});
  let error: Error | undefined;
  try {
    await runInConfig(args, config, session);
  } catch (thrown) {
    error = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
    throw thrown;
  } finally {
    await config.runHook('finally', {argv, Command: config.findCommand(id), error, id});
  }
}

async function runInConfig(args: readonly string[], config: HostConfig, session: Session): Promise<void> {
  const [id = '', ...argv] = args;
  const command = config.findCommand(id);
  const isForeign = command !== undefined && (command.pluginName !== config.name || isOclifCommand(id));
  const flags = command?.flags ?? {};
  const isTopic = command === undefined && config.findTopic(id) !== undefined;
  const hasPage = command !== undefined || leadingWords(args).length === (isTopic ? 1 : 0);
  // A program that asks for a document gets no help in its place.
  const isOpen = !session.output.json && (id === '' || (isTopic && commandFirst(argv).length === 0));
  const asksForHelp = isOpen || asksFor(helpFlags, args, flags);
  // Beside words, a short one is meant for something else: -v for --verbose.
  const versions = args.every((word) => word.startsWith('-')) ? versionFlags : ['--version'];
  if (!isForeign && asksFor(versions, args, flags)) {
    session.output.releaseStdout();
    process.stdout.write(`${config.userAgent}\n`);
  } else if (asksForHelp && hasPage) {
    session.output.releaseStdout();
    await new GroupedHelp(config, config.pjson.oclif.helpOptions).showHelp([...args]);
  } else if (command === undefined || (!isForeign && isVerbFirst(args, config))) {
    const listed = config.options.userPlugins === true ? userPlugins(config.dataDir) : [];
    const unbuilt = listed.flatMap(({folder}) => lackingPart(folder) ?? []);
    const suggestions = unbuilt.map(({message, suggestion}) => `${message} ${suggestion}`);
    throw amendError(unknownCommand(args, config), {suggestions});
  } else {
    session.foreign = isForeign;
    if (isForeign) {
      // What is not ours can print what it likes.
      session.output.releaseStdout();
      await config.requireCommand(command);
    }
    try {
      await config.runCommand(id, argv, command);
    } catch (error) {
      throw isForeign && isUsageError(error) && error.parse !== undefined ? usageError(error, id) : error;
    }
  }
}

// With DEBUG, oclif's own logger prints all arguments, including secrets.
const silentLogger: Interfaces.Logger = {
  namespace: 'mycli',
  child: () => silentLogger,
  debug: () => undefined,
  error: () => undefined,
  info: () => undefined,
  trace: () => undefined,
  warn: () => undefined,
};

/** Ends a run in which something failed. If our command had already ended, its outcome counts. */
function conclude(session: Session, error: unknown): number {
  const {ended, output, signal} = session;
  if (ended === undefined) return fail(session, stopped(session, error));
  if ('error' in ended) return fail(session, ended.error);
  const isUnheard = isRuntimeCliError(error) && error.code === 'ERR_OUTPUT';
  // A script would repeat the change if its unread result were a failure.
  if (isUnheard && session.ledgers.every(({changes}) => changes.length === 0)) return fail(session, error);
  if (!signal.aborted) output.warn(`The command had already finished when this happened: ${asOwnError(error).message}`);
  printDocument(session);
  return signal.aborted ? fail(session, error) : succeed(session);
}

function succeed({ended, events, exitCode = 0}: Session): number {
  events?.succeed(ended && 'document' in ended ? ended.document : undefined);
  return exitCode;
}

/** The error of a command that something else ended, with what its run had done. In a change, the outcome is open. */
function stopped({ledgers, signal, explain = (failure) => failure}: Session, error: unknown): unknown {
  const {sent, step} = ledgers.at(-1) ?? {};
  const isUserCode = isRuntimeCliError(error) && ['ERR_ENDED_EARLY', 'ERR_CONFIG_INVALID'].includes(error.code);
  if (signal.aborted || sent === undefined || (isRuntimeCliError(error) && !isUserCode)) return explain(error);
  const {message, advice} = asOwnError(error);
  const what = `${asSentence(message)} This happened during "${step?.title ?? sent.call}", which may have been carried out.`;
  const suggestions = [checkBeforeRetrying, ...advice];
  return explain(createError('ERR_OUTCOME_UNKNOWN', what, {suggestions, cause: error}));
}

function printDocument({ended, output}: Session): void {
  if (ended !== undefined && 'document' in ended && ended.document !== undefined) output.document(ended.document);
}

/** The error after a signal: with what ours says of the run. Others are consequences of the signal. */
function interruption(reason: unknown, error: unknown): unknown {
  if (!isRuntimeCliError(reason) || !isRuntimeCliError(error)) return reason;
  if (error.code === 'ERR_INTERRUPTED') return error;
  const {message, advice, details} = error;
  return amendError(reason, {message: `${reason.message} ${message}`, suggestions: advice, details});
}

function fail(session: Session, error: unknown): number {
  const {output, signal, foreign, access} = session;
  const requested = requestedExitCode(error);
  if (requested !== undefined && foreign) return requested;
  output.releaseStream();
  const own = asOwnError(signal.aborted ? interruption(signal.reason, error) : error, {foreign});
  const {message, advice, requestId} = own;
  output.error(message, requestId === undefined ? advice : [...advice, `Request ID: ${requestId}`]);
  for (let next = error; next instanceof Error; next = next.cause) {
    // With more advice, it is the same error.
    const isAmended = next.cause instanceof Error && next.cause.message === next.message;
    if (!isAmended) output.debug(next.stack ?? next.message);
  }
  const report = reportOf(own, output);
  const shown = access === undefined ? report : {...report, details: {...report.details, access}};
  output.document({error: shown} satisfies ErrorDocument);
  session.events?.fail(report, signal.aborted ? 'interrupted' : 'error');
  return report.exitCode;
}

function leave({temporary, output, events, showAccess}: Session): void {
  showAccess?.();
  for (const directory of temporary.splice(0)) {
    try {
      directory.removeSync();
    } catch {
      // The process must end; the next one will sweep.
    }
  }
  events?.close();
  output.releaseStream();
}
