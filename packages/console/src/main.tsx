import { render } from 'preact';
import { startRouter } from './app/router.js';
import { startSession } from './app/sign-in/start.js';
import { areas } from './pages/areas.js';
import { Shell } from './shell/shell.js';
import { startTheme } from './shell/theme.js';

const root = document.getElementById('console');
if (root !== null) {
  startTheme();
  startRouter();
  render(<Shell areas={areas} />, root);
  void startSession();
}
