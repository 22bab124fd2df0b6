// `oclif manifest` lists commands in the order of the file system, which differs between machines. The committed file
// must not. Help lists flags in the order of the manifest: those of every command come last.
import {readFileSync, writeFileSync} from 'node:fs';

const path = 'oclif.manifest.json';
const manifest = JSON.parse(readFileSync(path, 'utf8'));
for (const command of Object.values(manifest.commands)) {
  const isGlobal = ([, {helpGroup}]) => helpGroup === 'GLOBAL';
  const flags = Object.entries(command.flags);
  command.flags = Object.fromEntries([...flags.filter((flag) => !isGlobal(flag)), ...flags.filter(isGlobal)]);
}
manifest.commands = Object.fromEntries(Object.entries(manifest.commands).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
