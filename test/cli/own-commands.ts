import {readFileSync} from 'node:fs';
import {isOclifCommand} from '../../src/cli/command/command-line.js';

interface Flag {
  readonly name: string;
  readonly char?: string;
  readonly helpGroup?: string;
  readonly hidden?: boolean;
  readonly summary?: string;
}
interface Command {
  readonly flags: Readonly<Record<string, Flag>>;
  readonly args: Readonly<Record<string, {readonly name: string; readonly multiple?: boolean}>>;
  readonly aliases?: readonly string[];
  readonly examples?: readonly string[];
  readonly hidden?: boolean;
}

const path = new URL('../../oclif.manifest.json', import.meta.url);
const {commands} = JSON.parse(readFileSync(path, 'utf8')) as {readonly commands: Readonly<Record<string, Command>>};

/** What the manifest says of the commands that we wrote, by their ids. */
export const ownCommands: Readonly<Record<string, Command>> = Object.fromEntries(
  Object.entries(commands).filter(([id]) => !isOclifCommand(id)),
);
