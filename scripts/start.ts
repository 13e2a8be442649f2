// `npm start`: a simulated cluster with the autoscaler at work and a small company to look after. Arguments go to
// `kerf up --demo`; `npm start -- plan --help` and the like reach the other commands.
const given = process.argv.slice(2);
const namesCommand = given[0] !== undefined && !given[0].startsWith('-');
process.argv.splice(2, given.length, ...(namesCommand ? given : ['up', '--demo', ...given]));
await import(new URL('../bin/kerf', import.meta.url).href);
