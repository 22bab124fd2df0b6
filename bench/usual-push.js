// What tools of this kind do: the tar into a file, the file into memory, its base64 into one text, and that into fetch.
import {createWriteStream} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {pipeline} from 'node:stream/promises';
import tar from 'tar-fs';

const [build, file, origin] = process.argv.slice(2);
await pipeline(tar.pack(build), createWriteStream(file));
const data = (await readFile(file)).toString('base64');
const response = await fetch(`${origin}/api/projects/bench/builds/`, {
  method: 'POST',
  headers: {'content-type': 'application/json'},
  body: JSON.stringify({message: 'bench', encoding: 'base64', data}),
});
if (!response.ok) throw new Error(String(response.status));
await response.json();
