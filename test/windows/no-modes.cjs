// A preload that imitates a drive of Windows that another system has mounted, as WSL does: it has no modes.
const fs = require('node:fs');
const {syncBuiltinESMExports} = require('node:module');

const {statfsSync} = fs;
fs.statfsSync = (...args) => Object.assign(statfsSync(...args), {type: 0x01021997});
syncBuiltinESMExports();
