// The demo's agent: a script instead of a model, so that the demo needs no account and ends the same every time. It runs
// in a sealed container like any agent program, reads its task, and changes files in its workspace.
import { readFileSync, writeFileSync } from 'node:fs';

const prompt = readFileSync(process.argv[2], 'utf8');
const secondAttempt = prompt.includes('## What happened before');

function edit(file, from, to) {
  const text = readFileSync(file, 'utf8');
  if (!text.includes(from)) throw new Error(`${file} does not hold what the task is about`);
  writeFileSync(file, text.replace(from, to));
  console.log(`changed ${file}`);
}

console.log(`task: ${prompt.split('\n')[0]}${secondAttempt ? ' (second attempt)' : ''}`);

if (prompt.startsWith('Let an empty cart')) {
  edit('src/cart.js', 'sum + cents)', 'sum + cents, 0)');
} else if (prompt.startsWith('Ignore case')) {
  if (secondAttempt) {
    console.log('the first attempt changed the items themselves; comparing copies this time');
    edit('src/search.js', 'item.name.includes(words)', 'item.name.toLowerCase().includes(words.toLowerCase())');
  } else {
    edit(
      'src/search.js',
      'return items.filter((item) => item.name.includes(words));',
      'for (const item of items) item.name = item.name.toLowerCase();\n  return items.filter((item) => item.name.includes(words.toLowerCase()));',
    );
  }
} else if (prompt.startsWith('Show prices')) {
  edit('src/price.js', '`${cents / 100} EUR`', '`${(cents / 100).toFixed(2)} EUR`');
  edit('src/price.js', '"12.5 EUR"', '"12.50 EUR"');
} else {
  console.error('this script knows only the tasks of the demo');
  process.exit(1);
}
