self.tacet = { title: 'Neutral title', body: 'Neutral text' }
importScripts('/clients/tacet-sw.js')
