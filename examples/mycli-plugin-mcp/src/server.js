import {spawn} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import {createInterface} from 'node:readline';
import {text} from 'node:stream/consumers';
import {Server} from '@modelcontextprotocol/sdk/server/index.js';
import {CallToolRequestSchema, ListToolsRequestSchema} from '@modelcontextprotocol/sdk/types.js';
import {commandLine, readCommands, toolOf} from './tools.js';

/** @typedef {import('./tools.js').Command} Command */
/** @typedef {Readonly<Record<string, unknown>>} Document */
/** @typedef {{sequence: number, type: string} & Readonly<Record<string, string | number | undefined>>} Event */

/** Seconds that a command without an end is listened to. */
const listenSeconds = 10;

/**
 * A server whose tools are the commands of mycli.
 * @param {string} root where mycli is installed
 * @param {{allowsChanges: boolean, env: NodeJS.ProcessEnv}} options
 */
export async function createServer(root, {allowsChanges, env}) {
  const all = await readCommands(root);
  const tools = new Map([...all].filter(([, {command}]) => allowsChanges || command.changes === undefined));
  const {version} = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const skill = await readFile(join(root, 'skills/mycli/SKILL.md'), 'utf8');
  const instructions = skill.replace(/^---\n.*?\n---\n/s, '');
  const server = new Server({name: 'mycli', version}, {capabilities: {tools: {}}, instructions});
  // The host refuses changes itself, whatever is wrong here.
  const limits = [env['MYCLI_SAFETY'], ...(allowsChanges ? [] : ['read-only'])].filter(Boolean).join(',');
  const childEnv = {...env, ...(limits && {MYCLI_SAFETY: limits})};

  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...tools].map(([name, documented]) => toolOf(name, documented)),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({params}, {signal, sendNotification}) => {
    const {name, arguments: {seconds = listenSeconds, ...values} = {}, _meta} = params;
    const {command} = tools.get(name) ?? {};
    if (command === undefined) throw new Error(`There is no tool ${name}.`);
    const {progressToken} = _meta ?? {};
    const line = commandLine(command, /** @type {Readonly<Record<string, import('./tools.js').Value>>} */ (values));
    const document = await runCommand(line, {
      program: join(root, 'bin/run.js'),
      env: childEnv,
      command,
      signal: command.isEndless ? AbortSignal.any([signal, AbortSignal.timeout(Number(seconds) * 1000)]) : signal,
      async onEvent({sequence, type, title, status, phase, transferred, total, description, message}) {
        if (progressToken === undefined || type === 'outcome') return;
        const said = [title, status, phase, total && `${transferred} of ${total}`, description, message];
        const progress = {progressToken, progress: Number(sequence), message: said.filter(Boolean).join(', ')};
        await sendNotification({method: 'notifications/progress', params: progress});
      },
    });
    const content = [{type: 'text', text: JSON.stringify(document)}];
    return 'error' in document ? {content, isError: true} : {content, structuredContent: document};
  });
  return server;
}

/**
 * Runs a command in a process of its own, which cannot ask anything. Returns its document, or that of its error.
 * @param {readonly string[]} line
 * @param {object} options
 * @param {string} options.program
 * @param {NodeJS.ProcessEnv} options.env
 * @param {Command} options.command
 * @param {AbortSignal} options.signal
 * @param {(event: Event) => Promise<void>} options.onEvent
 * @returns {Promise<Document>}
 */
async function runCommand([id = '', ...rest], {program, env, command, signal, onEvent}) {
  const {flags, changes, isEndless = false} = command;
  const hasEvents = 'events' in flags && changes !== undefined;
  const args = [program, id, ...(hasEvents ? ['--events=-'] : ['--json']), ...rest];
  const child = spawn(process.execPath, args, {env, stdio: ['ignore', 'pipe', 'pipe']});
  const stop = () => child.kill('SIGINT');
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const said = text(child.stderr);
  /** @type {string[]} */
  const lines = [];
  try {
    for await (const line of createInterface({input: child.stdout})) {
      lines.push(line);
      if (hasEvents) await onEvent(JSON.parse(line));
    }
    if (hasEvents) {
      const {result, error} = JSON.parse(lines.at(-1) ?? '');
      return error === undefined ? result : {error};
    }
    // A document on one line is one of several.
    const isOne = !isEndless || lines[0] === '{';
    return isOne ? JSON.parse(lines.join('\n')) : {documents: lines.map((line) => JSON.parse(line))};
  } catch (error) {
    throw new Error(`mycli ${id} failed: ${await said}`, {cause: error});
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
