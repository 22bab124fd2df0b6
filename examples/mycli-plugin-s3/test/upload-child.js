// upload-child.js OPTIONS SIZE: uploads SIZE bytes with the built plugin and prints the peak of its memory, in bytes.
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {Readable} from 'node:stream';
import {s3Backend} from '../dist/backend.js';

const [options = '{}', size = '0'] = process.argv.slice(2);
const block = Buffer.alloc(1024 * 1024, 'bundle');
/** Ranges of whole blocks. */
const createReadStream = ({start = 0, end = Number(size) - 1} = {}) =>
  Readable.from(
    (function* () {
      for (let index = start; index <= end; index += block.length) yield block;
    })(),
    {objectMode: false},
  );

const hash = createHash('sha256');
for await (const chunk of createReadStream()) hash.update(chunk);

await s3Backend.upload(
  {format: 'v2', size: Number(size), sha256: hash.digest('hex'), contentSha256: '', message: '', createReadStream},
  {
    projectSlug: 'shop',
    options: JSON.parse(options),
    signal: new AbortController().signal,
    waitToRetry: async () => false,
    onAbort: () => undefined,
    maskSecret: () => undefined,
    onProgress: () => undefined,
  },
);
// Not `maxRSS`, which a process inherits from its parent.
const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
console.log(peak * 1024);
