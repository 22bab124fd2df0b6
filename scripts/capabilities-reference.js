// Writes the table of capabilities of docs/reference/backends.md from the rows of src/backends/members.ts.
// `npm run docs:generate` runs it.
import {apiBackend} from '../src/backends/api/backend.js';
import {legacyBackend} from '../src/backends/legacy/backend.js';
import {backendMembers, capabilitiesOf} from '../src/backends/members.js';
import {fillFormatted} from './fill-page.js';

const yesIf = (condition) => (condition ? 'yes' : '');
const rows = Object.entries(backendMembers).flatMap(([member, {capability, doing, effect}]) => {
  if (capability === undefined) return [];
  const has = [apiBackend, legacyBackend].map((backend) => yesIf(capabilitiesOf(backend).includes(capability)));
  return `| ${[`\`${capability}\``, `\`${member}\``, doing, yesIf(effect === 'writes'), ...has].join(' | ')} |`;
});

await fillFormatted('reference/backends.md', {
  capabilities: `
| Capability | Function of a plugin | For | Changes something | Api | legacy |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}`,
});
