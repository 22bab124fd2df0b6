// Writes the table of capabilities of docs/reference/backends.md from the rows of src/backends/members.ts.
// `npm run docs:generate` runs it.
import {readFileSync} from 'node:fs';
import {apiBackend} from '../src/backends/api/backend.js';
import {legacyBackend} from '../src/backends/legacy/backend.js';
import {backendMembers, capabilitiesOf} from '../src/backends/members.js';
import {capabilityUses} from './capability-uses.js';
import {fillFormatted} from './fill-page.js';

const {commands} = JSON.parse(readFileSync(new URL('../oclif.manifest.json', import.meta.url), 'utf8'));

const yesIf = (condition) => (condition ? 'yes' : '');
const rows = Object.entries(backendMembers).flatMap(([member, {capability, doing, effect}]) => {
  if (capability === undefined) return [];
  const {command, call} = capabilityUses[member];
  if (!(command.split(' ')[0] in commands)) throw new Error(`There is no command ${command}.`);
  const has = [apiBackend, legacyBackend].map((backend) => yesIf(capabilitiesOf(backend).includes(capability)));
  const names = [capability, member, command, call].map((name) => `\`${name}\``);
  return `| ${[...names, doing, yesIf(effect === 'writes'), ...has].join(' | ')} |`;
});

await fillFormatted('reference/backends.md', {
  capabilities: `
| Capability | Function of a plugin | Command | Call of the library | For | Changes something | Api | legacy |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}`,
});
