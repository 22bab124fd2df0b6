// The least that node can do: a file from the disk into a request.
import {createReadStream, statSync} from 'node:fs';
import {request} from 'node:http';
import {pipeline} from 'node:stream/promises';

const [file, origin] = process.argv.slice(2);
const upload = request(`${origin}/upload`, {method: 'POST', headers: {'content-length': statSync(file).size}});
const answered = new Promise((resolve, reject) => {
  upload.on('response', (response) => response.resume().on('end', resolve));
  upload.on('error', reject);
});
await pipeline(createReadStream(file, {highWaterMark: 512 * 1024}), upload);
await answered;
