import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {isRecord} from '../../errors/json.js';

/** The path or URL of a line of a stack, with or without the function's name before it. */
const frame = /(?:\(|at (?:async )?)((?:file:\/\/|\/|[A-Za-z]:\\).+?):\d+(?::\d+)?\)?$/;

/**
 * The plugin whose code is on a stack, the innermost: a package that says what it is to oclif. Nothing when all is ours, the
 * user's or unknown.
 * @param stack of an error
 */
export function pluginOnStack(stack: string | undefined): string | undefined {
  const paths = (stack ?? '').split('\n').flatMap((line) => pathOf(line) ?? []);
  for (const directory of new Set(paths.map((path) => dirname(path)))) {
    const plugin = pluginAround(directory);
    if (plugin !== undefined) return plugin;
  }
  return undefined;
}

/** The plugin whose code is running, or has called what is. */
export function runningPlugin(): string | undefined {
  const {stackTraceLimit} = Error;
  Error.stackTraceLimit = 100;
  try {
    return pluginOnStack(new Error('where').stack);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function pathOf(line: string): string | undefined {
  const place = frame.exec(line)?.[1];
  if (place === undefined) return undefined;
  try {
    return place.startsWith('file:') ? fileURLToPath(place) : place;
  } catch {
    return undefined;
  }
}

function pluginAround(start: string): string | undefined {
  for (let directory = start; ; directory = dirname(directory)) {
    const {name, oclif} = packageIn(directory);
    // What lies in a plugin's own node_modules is the plugin's; ours is at the end of every stack.
    if (isRecord(oclif) && typeof name === 'string') return name === 'mycli' ? undefined : name;
    if (dirname(directory) === directory) return undefined;
  }
}

function packageIn(directory: string): Readonly<Record<string, unknown>> {
  try {
    const pjson: unknown = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    return isRecord(pjson) ? pjson : {};
  } catch {
    return {};
  }
}
