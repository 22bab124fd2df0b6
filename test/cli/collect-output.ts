import {PassThrough} from 'node:stream';
import {Output, type OutputOptions} from '../../src/cli/output/output.js';

/** An output, and what it has written since it was asked last. */
export function collectOutput(options: Partial<OutputOptions> = {}) {
  const stdout = new PassThrough({encoding: 'utf8'});
  const stderr = new PassThrough({encoding: 'utf8'});
  const output = new Output({
    stdout,
    stderr,
    json: false,
    quiet: false,
    debugging: false,
    interactive: false,
    color: false,
    colorsResults: false,
    unicode: true,
    annotating: false,
    ...options,
  });
  return {output, texts: () => ({stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '')})};
}
