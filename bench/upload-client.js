// The same file through the client that the backends use, as multipart, with time-outs and ready to be sent again.
import {createReadStream, statSync} from 'node:fs';
import {createHttpClient, createRequestBodies} from '../dist/http/index.js';

const [file, origin] = process.argv.slice(2);
const silent = () => undefined;
const http = await createHttpClient({
  env: {},
  userAgent: 'bench',
  logger: {debug: silent, info: silent, warn: silent},
});
const source = {
  size: statSync(file).size,
  createReadStream: () => createReadStream(file, {highWaterMark: 512 * 1024}),
};
const body = createRequestBodies().multipart({
  file: {name: 'bundle', filename: 'bundle.tar.gz', contentType: 'application/octet-stream', source},
  fields: {message: 'bench'},
});
await http.post(`${origin}/upload`, body);
