// An app that opens sealed pushes. The app and its service extension share a folder of the app group and a group of the keychain.

let seal = ContentSeal(
  keys: KeychainKeyStore(accessGroup: group), store: FileStore(folder: sharedFolder), cryptography: SystemSealingCryptography())
device.sealingKey = try seal.registrationKey(for: deviceToken)                          // in the app, at each registration
handler(await NotificationServiceContent().content(of: request, opening: seal))         // in the extension
