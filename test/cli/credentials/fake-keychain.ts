import {chmod, writeFile} from 'node:fs/promises';
import {join} from 'node:path';

/** Writes a program that Node runs. */
export async function writeProgram(folder: string, name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!${process.execPath}\n${script}`);
  await chmod(join(folder, name), 0o700);
}

/** What both programs do: keep items in a file, note their arguments, take secrets from stdin only. */
const common = (items: string) => `
const {appendFileSync, existsSync, readFileSync, writeFileSync} = require('node:fs');
const args = process.argv.slice(2);
const file = ${JSON.stringify(items)};
appendFileSync(file + '.log', JSON.stringify({args, env: process.env}) + '\\n');
const items = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
const save = () => writeFileSync(file, JSON.stringify(items));
`;
// As of libsecret 0.20: attributes after the label, the password is all of stdin, lookup prints it without a newline.
export const secretToolScript = (items: string): string => `${common(items)}
const [command, ...rest] = args;
const attributes = rest.filter((arg) => arg !== '--label' && !arg.startsWith('mycli: ')).join(' ');
if (command === 'store') items[attributes] = readFileSync(0, 'utf8');
else if (command === 'clear') delete items[attributes];
else if (command === 'lookup') {
  if (items[attributes] === undefined) process.exit(1);
  process.stdout.write(items[attributes]);
} else process.exit(2);
save();
`;

// As of macOS: -i reads commands from stdin; find prints the password and a newline, or exits with 44.
export const securityScript = (items: string): string => `${common(items)}
const option = (name) => args[args.indexOf(name) + 1];
const id = () => option('-s') + ' ' + option('-a');
if (args[0] === '-i') {
  const [, service, account, secret] = /^add-generic-password -U -s (\\S+) -a "([^"]*)" -w (\\S+)\\n$/.exec(readFileSync(0, 'utf8'));
  items[service + ' ' + account] = secret;
} else if (items[id()] === undefined) process.exit(44);
else if (args[0] === 'find-generic-password') process.stdout.write(items[id()] + '\\n');
else if (args[0] === 'delete-generic-password') delete items[id()];
save();
`;
