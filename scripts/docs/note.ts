/** First line of every generated page. */
export const GENERATED_NOTE = '<!-- Generated from the code by `npm run docs`; edits here are lost. -->';
