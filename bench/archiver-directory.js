// The usual way to pack a folder, to compare with: node archiver-directory.js FOLDER ARCHIVE
import {TarArchive} from 'archiver';
import {createWriteStream} from 'node:fs';
import {pipeline} from 'node:stream/promises';

const [folder, output] = process.argv.slice(2);
const archive = new TarArchive();
archive.directory(folder, false);
await Promise.all([archive.finalize(), pipeline(archive, createWriteStream(output))]);
