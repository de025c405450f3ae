// A React Native app with expo-notifications, also without Expo's other parts, but not in Expo Go.

const tacet = async (method: string, path: string, json?: object) =>
  fetch(`https://push.example.com/v1/${path}`, { method, body: json && JSON.stringify(json),
    headers: { authorization: `Bearer ${await session.token()}`, ...(json && { 'content-type': 'application/json' }) } });

const { type, data: token } = await Notifications.getDevicePushTokenAsync();                // at each start
const register = (method: string) => type === 'ios'
  ? tacet(method, `devices/${token}`, method === 'PUT' ? {} : undefined)
  : tacet(method, 'fcm/registrations', { token });
await register('PUT');

Notifications.addNotificationResponseReceivedListener(({ notification }) => {
  const trigger = notification.request.trigger as Notifications.PushNotificationTrigger;
  const data = (trigger.payload ?? trigger.remoteMessage?.data ?? {}) as Record<string, string>;
  if (data.push_log_id) void tacet('POST', `pushes/${data.push_log_id}/opened`);
  if (data.conversation_id) router.push(`/c/${data.conversation_id}`);
});

useEffect(() => {                                                                           // in the conversation's screen
  const look = () => AppState.currentState === 'active' && tacet('PUT', `conversations/${id}/last-seen`);
  const leave = () => tacet('DELETE', `conversations/${id}/last-seen`);
  const timer = setInterval(look, 20_000);
  const change = AppState.addEventListener('change', (state) => state === 'active' ? look() : leave());
  look();
  return () => { clearInterval(timer); change.remove(); leave(); };
}, [id]);
await tacet('POST', `conversations/${id}/read`);
await register('DELETE');                                                                   // before the log-out
