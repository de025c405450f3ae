// A Flutter app with the packages push and http; firebase_messaging on an iPhone ignores pushes that did not come through Firebase.
//
// Presence: last-seen on AppLifecycleState.resumed and every 20 seconds, DELETE of it on paused and in dispose.

Future<void> tacet(String method, String path, [Map<String, Object?>? json]) async {
  final request = http.Request(method, Uri.parse('https://push.example.com/v1/$path'));
  request.headers['Authorization'] = 'Bearer ${await session.token()}';
  if (json != null) {
    request.headers['Content-Type'] = 'application/json';
    request.body = jsonEncode(json);
  }
  await request.send();
}

Future<void> register(String method, String token) => Platform.isIOS
    ? tacet(method, 'devices/$token', method == 'PUT' ? {} : null)
    : tacet(method, 'fcm/registrations', {'token': token});

Push.instance.addOnNewToken((token) => register('PUT', token));
final token = await Push.instance.token;                       // at each start
if (token != null) await register('PUT', token);
void opened(Map<String?, Object?>? data) {
  if (data?['push_log_id'] case final String id) tacet('POST', 'pushes/$id/opened');
}
Push.instance.addOnNotificationTap(opened);
opened(await Push.instance.notificationTapWhichLaunchedAppFromTerminated);
