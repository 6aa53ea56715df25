/**
 * Call what appium-adb offers, one function after the other, and say what became of each.
 *
 * Arguments: the file with appium-adb's entry point, the serials of a phone and of an emulator,
 * an APK, the package that it has, and the file for the outcomes: a JSON object with null for each
 * call that did as it says, and with the error for the others.
 */

import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const [entry, phone, emulator, apk, apkPackage, outcomesFile] = process.argv.slice(2);
const {ADB} = await import(pathToFileURL(entry).href);

const SETTINGS = 'com.android.settings';
const SETTINGS_START = `${SETTINGS}/.Settings`;
const SHOP = 'com.example.shop';
const LOCATION = 'android.permission.ACCESS_FINE_LOCATION';
const REMOTE = '/data/local/tmp/appium';
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
// A call that hangs is a failure of its own.
const LONGEST_MS = 60_000;

const scratch = await fs.mkdtemp(path.join(os.tmpdir(), 'appium-calls-'));
const options = {adbPort: Number(process.env.ANDROID_ADB_SERVER_PORT), suppressKillServer: true};
const adb = await ADB.createADB({...options, udid: phone});
const emu = await ADB.createADB({...options, udid: emulator});

/** @param {() => Promise<boolean>} holds */
async function until(holds) {
  const end = Date.now() + 20_000;
  while (!(await holds())) {
    assert.ok(Date.now() < end, 'it did not become so within 20 s');
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

async function freePort() {
  const server = net.createServer();
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const {port} = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

/** The first text field that is shown: its text, and its middle. */
async function textField() {
  await adb.shell(['uiautomator', 'dump', '/sdcard/screen.xml']);
  const xml = await adb.shell(['cat', '/sdcard/screen.xml']);
  const [node] = xml.match(/<node[^>]*class="android.widget.EditText"[^>]*>/) ?? [];
  assert.ok(node, 'no text field is shown');
  const [left, top, right, bottom] = /bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"/.exec(node).slice(1).map(Number);
  return {text: / text="([^"]*)"/.exec(node)[1], x: (left + right) / 2, y: (top + bottom) / 2};
}

/** A call of the console, whose refusal adb does not tell, and the command that it sends. */
async function obeyed(call, command) {
  await call();
  await emu.execEmuConsoleCommand(command);
}

const general = {
  getAdbWithCorrectAdbPath: async () => assert.equal(await adb.getAdbWithCorrectAdbPath(), adb),
  getAdbPath: async () => assert.match(adb.getAdbPath(), /platform-tools.adb$/),
  getVersion: async () => assert.ok((await adb.getVersion()).bridge.version),
  getApiLevel: async () => assert.equal(await adb.getApiLevel(), 36),
  getPlatformVersion: async () => assert.equal(await adb.getPlatformVersion(), '16'),
  isDeviceConnected: async () => assert.equal(await adb.isDeviceConnected(), true),
  getConnectedDevices: async () =>
    assert.ok((await adb.getConnectedDevices({verbose: true})).some((d) => d.udid === phone && d.model)),
  getDevicesWithRetry: async () => assert.equal((await adb.getDevicesWithRetry(5000)).length, 2),
  getConnectedEmulators: async () =>
    assert.deepEqual((await adb.getConnectedEmulators()).map((e) => e.udid), [emulator]),
  ping: async () => assert.equal(await adb.ping(), true),
  shell: async () => assert.equal(await adb.shell(['echo', 'hello']), 'hello'),
  shellFails: async () => assert.rejects(adb.shell(['false'])),
  shellChunks: async () => adb.shellChunks((word) => ['echo', word], Array(200).fill('0123456789')),
  adbExec: async () => assert.match(await adb.adbExec(['get-state']), /^device$/),
  createSubProcess: async () => {
    const child = adb.createSubProcess(['shell', 'sleep', '30']);
    await child.start(0);
    await child.stop();
  },
  listFeatures: async () => assert.ok((await adb.listFeatures()).includes('shell_v2')),
  isStreamedInstallSupported: async () => assert.equal(await adb.isStreamedInstallSupported(), true),
  isIncrementalInstallSupported: async () =>
    assert.equal(typeof (await adb.isIncrementalInstallSupported()), 'boolean'),
  waitForDevice: async () => adb.waitForDevice(10),
  reconnect: async () => adb.reconnect('offline'),
  root: async () => {
    await adb.root();
    assert.equal(await adb.isRoot(), false);
  },
  unroot: async () => assert.equal((await adb.unroot()).isSuccessful, true),
  isRoot: async () => assert.equal(await adb.isRoot(), false),
  takeScreenshot: async () => assert.deepEqual((await adb.takeScreenshot()).subarray(0, 4), PNG),
  screenrecord: async () => {
    const film = adb.screenrecord(`${REMOTE}/film.mp4`, {timeLimit: 1});
    await adb.mkdir(REMOTE);
    await film.start(0);
    await film.join();
    assert.ok((await adb.fileSize(`${REMOTE}/film.mp4`)) > 0);
  },
  bugreport: async () => {
    const before = process.cwd();
    process.chdir(scratch);
    try {
      await adb.bugreport(20_000);
      assert.ok((await fs.readdir(scratch)).some((name) => name.endsWith('.zip')));
    } finally {
      process.chdir(before);
    }
  },
};

const network = {
  forwardPort: async () => {
    const port = await freePort();
    await adb.forwardPort(port, 7912);
    assert.ok((await adb.getForwardList()).some((row) => row.includes(`tcp:${port} tcp:7912`)));
  },
  getForwardList: async () => assert.ok((await adb.getForwardList()).length > 0),
  forwardAbstractPort: async () => adb.forwardAbstractPort(await freePort(), 'some_socket'),
  removePortForward: async () => {
    const port = await freePort();
    await adb.forwardPort(port, 7912);
    await adb.removePortForward(port);
    assert.ok(!(await adb.getForwardList()).some((row) => row.includes(`tcp:${port} `)));
  },
  reversePort: async () => adb.reversePort(18080, await freePort()),
  getReverseList: async () => assert.ok((await adb.getReverseList()).some((row) => row.includes('tcp:18080'))),
  removePortReverse: async () => {
    await adb.removePortReverse(18080);
    assert.ok(!(await adb.getReverseList()).some((row) => row.includes('tcp:18080')));
  },
  listPorts: async () => assert.ok((await adb.listPorts()).every((row) => row.port > 0)),
  listPortsOfVersion6: async () => assert.ok((await adb.listPorts('6')).every((row) => row.port > 0)),
};

const files = {
  mkdir: async () => adb.mkdir(`${REMOTE}/it's here`),
  push: async () => {
    await fs.writeFile(path.join(scratch, 'sent.txt'), 'hello\n');
    await adb.push(path.join(scratch, 'sent.txt'), `${REMOTE}/deep/sent.txt`);
  },
  pull: async () => {
    await adb.pull(`${REMOTE}/deep/sent.txt`, path.join(scratch, 'got.txt'));
    assert.equal(await fs.readFile(path.join(scratch, 'got.txt'), 'utf8'), 'hello\n');
  },
  ls: async () => assert.deepEqual(await adb.ls(`${REMOTE}/deep`), ['sent.txt']),
  fileExists: async () => assert.equal(await adb.fileExists(`${REMOTE}/deep/sent.txt`), true),
  fileSize: async () => assert.equal(await adb.fileSize(`${REMOTE}/deep/sent.txt`), 6),
  rimraf: async () => {
    await adb.rimraf(REMOTE);
    assert.equal(await adb.fileExists(REMOTE), false);
  },
};

const properties = {
  getDeviceProperty: async () => assert.equal(await adb.getDeviceProperty('sys.boot_completed'), '1'),
  setDeviceProperty: async () => {
    await adb.setDeviceProperty('debug.appium', 'here', {privileged: false});
    assert.equal(await adb.getDeviceProperty('debug.appium'), 'here');
  },
  getDeviceSysLanguage: async () => assert.equal(await adb.getDeviceSysLanguage(), ''),
  getDeviceSysCountry: async () => assert.equal(await adb.getDeviceSysCountry(), ''),
  getDeviceSysLocale: async () => assert.match(await adb.getDeviceSysLocale(), /^(en-US)?$/),
  getDeviceProductLanguage: async () => assert.equal(await adb.getDeviceProductLanguage(), ''),
  getDeviceProductCountry: async () => assert.equal(await adb.getDeviceProductCountry(), ''),
  getDeviceProductLocale: async () => assert.equal(await adb.getDeviceProductLocale(), 'en-US'),
  getDeviceLanguage: async () => assert.equal(await adb.getDeviceLanguage(), 'en'),
  getDeviceCountry: async () => assert.equal(typeof (await adb.getDeviceCountry()), 'string'),
  getDeviceLocale: async () => assert.equal(await adb.getDeviceLocale(), 'en-US'),
  ensureCurrentLocale: async () => assert.equal(await adb.ensureCurrentLocale('en', 'US'), true),
  getModel: async () => assert.equal(await adb.getModel(), 'Pixel 9'),
  getManufacturer: async () => assert.equal(await adb.getManufacturer(), 'Google'),
  getTimeZone: async () => assert.ok(await adb.getTimeZone()),
  getScreenSize: async () => assert.match(await adb.getScreenSize(), /^\d+x\d+$/),
  getScreenDensity: async () => assert.ok((await adb.getScreenDensity()) > 100),
  getScreenOrientation: async () => assert.equal(await adb.getScreenOrientation(), 0),
};

const settings = {
  setSetting: async () => adb.setSetting('system', 'appium_word', "it's"),
  getSetting: async () => assert.equal(await adb.getSetting('system', 'appium_word'), "it's"),
  setHttpProxy: async () => {
    await adb.setHttpProxy('127.0.0.1', 8888);
    assert.equal(await adb.getSetting('global', 'http_proxy'), '127.0.0.1:8888');
  },
  deleteHttpProxy: async () => {
    await adb.deleteHttpProxy();
    assert.equal(await adb.getSetting('global', 'http_proxy'), 'null');
  },
  setHiddenApiPolicy: async () => {
    await adb.setHiddenApiPolicy(1);
    assert.equal(await adb.getSetting('global', 'hidden_api_policy'), '1');
  },
  setDefaultHiddenApiPolicy: async () => {
    await adb.setDefaultHiddenApiPolicy();
    assert.equal(await adb.getSetting('global', 'hidden_api_policy'), 'null');
  },
  setAnimationScale: async () => adb.setAnimationScale(1),
  isAnimationOn: async () => assert.equal(await adb.isAnimationOn(), true),
  setWifiState: async () => {
    await adb.setWifiState(false);
    assert.equal(await adb.isWifiOn(), false);
    await adb.setWifiState(true);
  },
  setWifiStateOfEmulator: async () => {
    await emu.setWifiState(false, true);
    assert.equal(await emu.isWifiOn(), false);
  },
  isWifiOn: async () => assert.equal(await adb.isWifiOn(), true),
  setDataState: async () => {
    await adb.setDataState(false);
    assert.equal(await adb.isDataOn(), false);
    await adb.setDataState(true);
  },
  setDataStateOfEmulator: async () => {
    await emu.setDataState(false, true);
    assert.equal(await emu.isDataOn(), false);
  },
  isDataOn: async () => assert.equal(await adb.isDataOn(), true),
  setAirplaneMode: async () => {
    await adb.setAirplaneMode(true);
    assert.equal(await adb.isAirplaneModeOn(), true);
    await adb.setAirplaneMode(false);
  },
  isAirplaneModeOn: async () => assert.equal(await adb.isAirplaneModeOn(), false),
  broadcastAirplaneMode: async () => assert.rejects(adb.broadcastAirplaneMode(false), /SecurityException/),
  setBluetoothOn: async () => {
    await adb.setBluetoothOn(false);
    assert.equal(await adb.getSetting('global', 'bluetooth_on'), '0');
    await adb.setBluetoothOn(true);
  },
  setNfcOn: async () => {
    await adb.setNfcOn(false);
    assert.equal(await adb.getSetting('global', 'nfc_on'), '0');
  },
  getLocationProviders: async () => assert.deepEqual(await adb.getLocationProviders(), ['gps']),
  toggleGPSLocationProvider: async () => {
    await adb.toggleGPSLocationProvider(false);
    assert.deepEqual(await adb.getLocationProviders(), []);
    await adb.toggleGPSLocationProvider(true);
  },
  addToDeviceIdleWhitelist: async () => assert.equal(await adb.addToDeviceIdleWhitelist(SHOP), true),
  getDeviceIdleWhitelist: async () =>
    assert.ok((await adb.getDeviceIdleWhitelist()).some((row) => row.includes(SHOP))),
};

const apps = {
  isValidClass: async () => assert.equal(adb.isValidClass(SETTINGS_START), true),
  isAppInstalled: async () => assert.equal(await adb.isAppInstalled(SHOP), true),
  isAppInstalledForUser: async () => assert.equal(await adb.isAppInstalled(SHOP, {user: '0'}), true),
  isAppInstalledOfNone: async () => assert.equal(await adb.isAppInstalled('com.example.none'), false),
  listInstalledPackages: async () =>
    assert.ok((await adb.listInstalledPackages()).some((p) => p.appPackage === SHOP && p.versionCode)),
  getPackageInfo: async () => assert.ok((await adb.getPackageInfo(SHOP)).versionCode > 0),
  resolveLaunchableActivity: async () =>
    assert.equal(await adb.resolveLaunchableActivity(SETTINGS), SETTINGS_START),
  resolveLaunchableActivityByDump: async () =>
    assert.match(await adb.resolveLaunchableActivity(SETTINGS, {preferCmd: false}), /^com\.android\.settings\//),
  startApp: async () => {
    await adb.startApp({pkg: SETTINGS, activity: '.Settings', waitActivity: '.Settings'});
    assert.equal((await adb.getFocusedPackageAndActivity()).appPackage, SETTINGS);
  },
  startAppByAction: async () =>
    adb.startApp({pkg: SETTINGS, action: 'android.settings.SETTINGS', stopApp: false}),
  getFocusedPackageAndActivity: async () =>
    assert.equal((await adb.getFocusedPackageAndActivity()).appPackage, SETTINGS),
  dumpWindows: async () => assert.match(await adb.dumpWindows(), /mFocusedApp/),
  waitForActivity: async () => adb.waitForActivity(SETTINGS, '*', 5000),
  waitForNotActivity: async () => adb.waitForNotActivity(SHOP, '*', 5000),
  startAppOfNone: async () => assert.rejects(adb.startApp({pkg: SETTINGS, activity: '.Nothing'})),
  activateApp: async () => {
    await adb.activateApp(SHOP);
    await adb.waitForActivity(SHOP, '*', 5000);
  },
  isAppRunning: async () => assert.equal(await adb.isAppRunning(SHOP), true),
  listAppProcessIds: async () => assert.equal((await adb.listAppProcessIds(SHOP)).length, 1),
  processExists: async () => assert.equal(await adb.processExists(SHOP), true),
  listProcessStatus: async () => assert.match(await adb.listProcessStatus(), /com\.example\.shop/),
  getProcessIdsByName: async () => assert.equal((await adb.getProcessIdsByName(SHOP)).length, 1),
  getProcessNameById: async () => {
    const [pid] = await adb.getProcessIdsByName(SHOP);
    assert.equal(await adb.getProcessNameById(pid), SHOP);
  },
  killProcessByPID: async () => {
    const [pid] = await adb.getProcessIdsByName(SHOP);
    await assert.rejects(adb.killProcessByPID(pid));
  },
  killProcessByPIDOfNone: async () => adb.killProcessByPID(999_999),
  killProcessesByName: async () => {
    const child = adb.createSubProcess(['shell', 'logcat']);
    await child.start(0);
    await until(() => adb.processExists('logcat'));
    await adb.killProcessesByName('logcat');
    await until(async () => !(await adb.processExists('logcat')));
  },
  startUri: async () => adb.startUri('shop://item/1', SHOP),
  startUriOfNone: async () => assert.rejects(adb.startUri('nothing://here')),
  broadcast: async () => adb.broadcast('com.example.NOTHING'),
  getReqPermissions: async () => assert.ok((await adb.getReqPermissions(SHOP)).includes(LOCATION)),
  grantPermission: async () => {
    await adb.grantPermission(SHOP, LOCATION);
    assert.ok((await adb.getGrantedPermissions(SHOP)).includes(LOCATION));
  },
  getGrantedPermissions: async () => assert.ok((await adb.getGrantedPermissions(SHOP)).includes(LOCATION)),
  revokePermission: async () => {
    await adb.revokePermission(SHOP, LOCATION);
    assert.ok((await adb.getDeniedPermissions(SHOP)).includes(LOCATION));
  },
  getDeniedPermissions: async () => assert.ok((await adb.getDeniedPermissions(SHOP)).includes(LOCATION)),
  grantPermissions: async () => adb.grantPermissions(SHOP, [LOCATION, 'android.permission.INTERNET']),
  grantAllPermissions: async () => {
    await adb.grantAllPermissions(SHOP);
    assert.deepEqual(await adb.getDeniedPermissions(SHOP), []);
  },
  killPackage: async () => adb.killPackage(SHOP),
  forceStop: async () => {
    await adb.forceStop(SHOP);
    assert.equal(await adb.isAppRunning(SHOP), false);
  },
  clear: async () => assert.match(await adb.clear(SHOP), /Success/),
  stopAndClear: async () => adb.stopAndClear(SHOP),
  pullApk: async () => assert.ok((await fs.stat(await adb.pullApk(SHOP, scratch))).size > 0),
  targetSdkVersionUsingPKG: async () => assert.ok((await adb.targetSdkVersionUsingPKG(SHOP)) >= 30),
};

const packages = {
  install: async () => {
    await adb.install(apk, {grantPermissions: true});
    assert.equal(await adb.isAppInstalled(apkPackage), true);
  },
  uninstallApk: async () => {
    assert.equal(await adb.uninstallApk(apkPackage), true);
    assert.equal(await adb.isAppInstalled(apkPackage), false);
  },
  cacheApk: async () => assert.equal(await adb.fileExists(await adb.cacheApk(apk)), true),
  installFromDevicePath: async () => {
    await adb.installFromDevicePath(await adb.cacheApk(apk));
    assert.equal(await adb.isAppInstalled(apkPackage), true);
  },
  installMultipleApks: async () => adb.installMultipleApks([apk], {replace: true}),
  installOrUpgrade: async () => {
    await adb.uninstallApk(apkPackage);
    assert.equal((await adb.installOrUpgrade(apk, apkPackage)).appState, 'notInstalled');
  },
  getApplicationInstallState: async () =>
    assert.notEqual(await adb.getApplicationInstallState(apk, apkPackage), 'notInstalled'),
  isTestPackageOnlyError: async () =>
    assert.equal(adb.isTestPackageOnlyError('[INSTALL_FAILED_TEST_ONLY]'), true),
};

const keyboard = {
  availableIMEs: async () => assert.ok((await adb.availableIMEs()).length > 0),
  enabledIMEs: async () => assert.ok((await adb.enabledIMEs()).length > 0),
  defaultIME: async () => assert.ok((await adb.availableIMEs()).includes(await adb.defaultIME())),
  enableIME: async () => adb.enableIME((await adb.availableIMEs())[0]),
  disableIME: async () => {
    const name = (await adb.availableIMEs())[0];
    await adb.disableIME(name);
    await adb.enableIME(name);
  },
  setIME: async () => adb.setIME((await adb.availableIMEs())[0]),
  runInImeContext: async () =>
    assert.equal(await adb.runInImeContext((await adb.availableIMEs())[0], async () => 'done'), 'done'),
  isSoftKeyboardPresent: async () => {
    await adb.activateApp(SHOP);
    await adb.waitForActivity(SHOP, '*', 5000);
    assert.equal((await adb.isSoftKeyboardPresent()).isKeyboardShown, false);
    const {x, y} = await textField();
    await adb.shell(['input', 'tap', `${x}`, `${y}`]);
    await until(async () => (await adb.isSoftKeyboardPresent()).isKeyboardShown);
  },
  inputText: async () => {
    await adb.inputText("a b & c's");
    assert.equal((await textField()).text, "a b &amp; c's");
  },
  clearTextField: async () => {
    await adb.clearTextField(20);
    assert.ok(!(await textField()).text.includes('a b'));
  },
  hideKeyboard: async () => {
    assert.equal(await adb.hideKeyboard(), true);
    assert.equal(await adb.hideKeyboard(), false);
  },
  keyevent: async () => {
    await adb.activateApp(SETTINGS);
    await adb.waitForActivity(SETTINGS, '*', 5000);
    await adb.keyevent(3);
    await adb.waitForNotActivity(SETTINGS, '*', 5000);
  },
  back: async () => {
    await adb.activateApp(SETTINGS);
    await adb.waitForActivity(SETTINGS, '*', 5000);
    await adb.back();
    await adb.waitForNotActivity(SETTINGS, '*', 5000);
  },
  goToHome: async () => {
    await adb.activateApp(SHOP);
    await adb.goToHome();
    await adb.waitForNotActivity(SHOP, '*', 5000);
  },
};

const locks = {
  isLockManagementSupported: async () => assert.equal(await adb.isLockManagementSupported(), true),
  isLockEnabled: async () => assert.equal(typeof (await adb.isLockEnabled()), 'boolean'),
  setLockCredential: async () => adb.setLockCredential('pin', '1111'),
  verifyLockCredential: async () => {
    await assert.rejects(adb.verifyLockCredential('2222'), /didn't match/);
    assert.equal(await adb.verifyLockCredential('1111'), true);
  },
  clearLockCredential: async () => {
    await adb.clearLockCredential('1111');
    assert.equal(await adb.verifyLockCredential(), true);
  },
  lock: async () => adb.lock(),
  isScreenLocked: async () => assert.equal(await adb.isScreenLocked(), true),
  cycleWakeUp: async () => adb.cycleWakeUp(),
  dismissKeyguard: async () => {
    await adb.dismissKeyguard();
    await until(async () => !(await adb.isScreenLocked()));
  },
};

const log = {
  startLogcat: async () => adb.startLogcat(),
  setLogcatListener: async () => {
    let seen = '';
    const listener = (entry) => (seen += entry.message);
    adb.setLogcatListener(listener);
    await adb.shell(['log', '-t', 'Appium', 'listened']);
    await until(async () => seen.includes('listened'));
    adb.removeLogcatListener(listener);
  },
  getLogcatLogs: async () => assert.ok(adb.getLogcatLogs().some((entry) => entry.message.includes('Appium'))),
  stopLogcat: async () => adb.stopLogcat(),
};

const emulators = {
  isEmulatorConnected: async () => assert.equal(await emu.isEmulatorConnected(), true),
  verifyEmulatorConnected: async () => emu.verifyEmulatorConnected(),
  getRunningAVD: async () => assert.equal((await emu.getRunningAVD('simulated_1')).udid, emulator),
  getRunningAVDWithRetry: async () =>
    assert.equal((await emu.getRunningAVDWithRetry('simulated_1', 5000)).udid, emulator),
  // It takes the first device of all, unless the emulator was looked for before.
  getEmulatorPort: async () => assert.equal(await emu.getEmulatorPort(), Number(emulator.split('-')[1])),
  waitForEmulatorReady: async () => emu.waitForEmulatorReady(10_000),
  execEmuConsoleCommand: async () =>
    assert.match(await emu.execEmuConsoleCommand(['avd', 'name']), /simulated_1/),
  sendTelnetCommand: async () => assert.match(await emu.sendTelnetCommand('avd name'), /simulated_1/),
  adbExecEmu: async () => emu.adbExecEmu(['ping']),
  fingerprint: async () => obeyed(() => emu.fingerprint('1'), 'finger touch 1'),
  rotate: async () => obeyed(() => emu.rotate(), 'rotate'),
  powerAC: async () => obeyed(() => emu.powerAC('off'), 'power ac off'),
  powerCapacity: async () => obeyed(() => emu.powerCapacity(50), 'power capacity 50'),
  powerOFF: async () => obeyed(() => emu.powerOFF(), 'power ac off'),
  sensorSet: async () =>
    obeyed(() => emu.sensorSet('acceleration', '1:2:3'), 'sensor set acceleration 1:2:3'),
  sendSMS: async () => obeyed(() => emu.sendSMS('5551234', 'hello'), 'sms send 5551234 hello'),
  gsmCall: async () => obeyed(() => emu.gsmCall('5551234', 'call'), 'gsm call 5551234'),
  gsmSignal: async () => obeyed(() => emu.gsmSignal(2), 'gsm signal-profile 2'),
  gsmVoice: async () => obeyed(() => emu.gsmVoice('on'), 'gsm voice on'),
  networkSpeed: async () => obeyed(() => emu.networkSpeed('lte'), 'network speed lte'),
  killEmulator: async () => assert.equal(await emu.killEmulator('simulated_1', 20_000), true),
};

const ends = {
  reboot: async () => adb.reboot(20),
  restart: async () => adb.restart(),
};

const calls = {
  ...general, ...network, ...files, ...properties, ...settings, ...apps, ...packages,
  ...keyboard, ...locks, ...log, ...emulators, ...ends,
};

/** @param {() => Promise<unknown>} call */
async function outcome(call) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${LONGEST_MS} ms`)), LONGEST_MS);
  });
  try {
    await Promise.race([call(), late]);
    return null;
  } catch (error) {
    return String(error?.message ?? error);
  } finally {
    clearTimeout(timer);
  }
}

const outcomes = {};
for (const [name, call] of Object.entries(calls)) {
  outcomes[name] = await outcome(call);
}
await fs.writeFile(outcomesFile, JSON.stringify(outcomes, null, 1));
await fs.rm(scratch, {recursive: true});
process.exit(0);
