// `oclif manifest` lists commands in the order of the file system, which differs between machines. The committed file
// must not.
import {readFileSync, writeFileSync} from 'node:fs';

const path = 'oclif.manifest.json';
const manifest = JSON.parse(readFileSync(path, 'utf8'));
manifest.commands = Object.fromEntries(Object.entries(manifest.commands).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
