// Stands for the build of a framework: a server, and a page that greets in the name of its storefront.
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';

const {name} = JSON.parse(readFileSync('package.json', 'utf8'));
const greeting = existsSync('greeting.txt') ? readFileSync('greeting.txt', 'utf8') : 'Welcome to';
mkdirSync('build/static', {recursive: true});
writeFileSync('build/ssr.js', `exports.get = () => '${greeting} ${name}';\n`);
writeFileSync('build/static/index.html', `<h1>${greeting} ${name}</h1>\n`);
