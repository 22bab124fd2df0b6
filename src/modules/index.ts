export {loadModule} from './load-module.js';
export {readTextFile, verifyRegularFile} from './read-text-file.js';
