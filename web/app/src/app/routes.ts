import type { Routes } from '@angular/router';

/** The first page is a chunk of its own, which loads while the gateway checks the key. */
export const routes: Routes = [
  {
    path: '',
    pathMatch: 'full',
    title: 'Dashboard',
    loadComponent: () => import('./dashboard/dashboard').then(({ Dashboard }) => Dashboard),
  },
  {
    path: 'tables/:name',
    title: (route) => route.paramMap.get('name') ?? 'Table',
    loadComponent: () => import('./table/table-page').then(({ TablePage }) => TablePage),
  },
  {
    path: 'quarantine',
    title: 'Quarantine',
    loadComponent: () => import('./quarantine/quarantine').then(({ Quarantine }) => Quarantine),
  },
  {
    path: 'status',
    title: 'Status',
    loadComponent: () => import('./status/status').then(({ Status }) => Status),
  },
  {
    path: '**',
    title: 'No such page',
    loadComponent: () => import('./shell/not-found').then(({ NotFound }) => NotFound),
  },
];
